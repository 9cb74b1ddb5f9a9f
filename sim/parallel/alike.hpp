#pragma once

/// \file
/// Flows that are alike get the same rate, so one can stand for all: the exact part of folding.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "plan/plan.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// The flows of one exchange as done by many groups at the same time: task k of every group corresponds.
struct AlikeFlows {
  std::size_t tasks = 0;                             ///< in the exchange of one group
  std::vector<std::uint32_t> classes = {};           ///< by task: tasks with one number are one
  std::vector<std::vector<ChannelLoad>> loads = {};  ///< by group and task, group by group; in order of channels

  [[nodiscard]] std::size_t groups() const { return tasks == 0 ? 0 : loads.size() / tasks; }
};

/// Groups of an exchange that do not do the same, by group: those with one number may.
using GroupKinds = std::vector<std::uint32_t>;

/// Splits the classes until flows of one see alike channels, where channels are alike if they have the same capacity
/// and each class of flows loads them the same. Such a partition is equitable: max-min fair rates are equal
/// within each class. Channels that are full only if another is are left out of account: they hold nobody.
/// \returns nothing, or kinds of groups if corresponding flows of two see unlike channels
GroupKinds settle_classes(AlikeFlows& flows, const Topology& topology);

/// What all flows of the class of each task of the first group load together, on the channels of that task.
std::vector<std::vector<ChannelLoad>> merged_loads(const AlikeFlows& flows);

/// Which channels one stands for, under the flows of several exchanges.
struct AlikeChannels {
  std::vector<ChannelId> stands_for = {};  ///< by channel; those that nothing loads stand for themselves
  /// By exchange, kinds of groups where flows of one class see channels that another exchange loads unlike.
  std::map<std::size_t, GroupKinds> unlike = {};
};

AlikeChannels alike_channels(std::span<const AlikeFlows> exchanges, const Topology& topology);

}  // namespace gpuscale
