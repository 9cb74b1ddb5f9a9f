#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/hops.hpp"
#include "collective/pattern.hpp"
#include "collective/switch_ways.hpp"
#include "plan/stepped.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// A pattern of a group, and what it loads under each protocol once that has been asked.
struct GroupPattern {
  Pattern pattern = {};
  mutable std::array<std::optional<Hops>, kProtocolNames.size()> hops = {};
  mutable std::array<std::optional<Hops>, kProtocolNames.size()> binding = {};  ///< see RankGroup::binding_hops()
  mutable std::vector<GroupPattern> parts = {};  ///< see parts_of(); empty until asked for
  /// The same as steps of a plan, see Mover; empty until asked for.
  mutable std::array<std::shared_ptr<const StepPattern>, kProtocolNames.size()> steps = {};
};

/// An algorithm and protocol for exchanges of one kind and size on one group.
struct ExchangeChoice {
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  Seconds time = {};  ///< of the exchange alone

  bool operator==(const ExchangeChoice&) const = default;
};

/// What a step of a pipeline of trees takes: its latency, and one more byte of a chunk.
struct TreeStep {
  Seconds latency = {};
  Seconds byte = {};
};

/// Ranks that exchange with each other over a topology by one transport. Remembers how they are joined and
/// which algorithm was fastest, so that many exchanges of one group search once. The topology must
/// outlive it.
class RankGroup {
 public:
  RankGroup(const Topology& topology, std::vector<Participant> ranks, Transport transport, PlanTimer plan_timer)
      : topology_(&topology), ranks_(std::move(ranks)), transport_(std::move(transport)), timer_(plan_timer) {}

  [[nodiscard]] const Topology& topology() const { return *topology_; }
  [[nodiscard]] std::span<const Participant> ranks() const { return ranks_; }
  [[nodiscard]] const Transport& transport() const { return transport_; }
  /// How long a plan takes on the group's topology: what choices between algorithms go by.
  [[nodiscard]] PlanTimer timer() const { return timer_; }
  [[nodiscard]] Seconds plan_time(const Plan& plan) const { return timer_(plan, *topology_); }
  [[nodiscard]] std::size_t size() const { return ranks_.size(); }
  /// The number of ranks, for formulas.
  [[nodiscard]] double count() const { return static_cast<double>(ranks_.size()); }

  /// The rings over all ranks, each with its share of the data.
  [[nodiscard]] const GroupPattern& ring() const;
  /// Every rank to all others.
  [[nodiscard]] const GroupPattern& pairs() const;
  /// Two binary trees, on every edge up and down at once.
  [[nodiscard]] const GroupPattern& trees() const;
  /// The rings inside each box.
  [[nodiscard]] const GroupPattern& inside() const;
  /// A ring over all boxes for each place in them. \pre boxes of equal size
  [[nodiscard]] const GroupPattern& outside() const;
  /// The ways to switches of the boxes, and to network switches, that sum.
  [[nodiscard]] const SwitchWays& box_switches() const;
  [[nodiscard]] const SwitchWays& network_switches() const;
  /// What a pattern loads under a protocol.
  [[nodiscard]] const Hops& hops(const GroupPattern& pattern, Protocol protocol) const;
  /// The same as hops(), of the group's own patterns with only the loads that hold them when one algorithm has the
  /// topology to itself: enough to time it, and small on a large cluster.
  [[nodiscard]] const Hops& binding_hops(const GroupPattern& pattern, Protocol protocol) const;
  /// Of what all ranks send to switches, or get from them.
  [[nodiscard]] Hops binding_hops(const Hops& switches) const { return only(switches, joint_channels()); }
  /// Ranks by the box they are in, both in rank order.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& nodes() const;
  /// The compute lanes, which exchanges slow down; of ranks that have one.
  [[nodiscard]] std::vector<LaneId> lanes() const;

  /// Choices by what was asked; see choose_exchange().
  using ChoiceKey = std::array<int, 4>;
  [[nodiscard]] std::map<ChoiceKey, ExchangeChoice>& choices() const { return choices_; }
  /// Steps of trees that are not full, by chunks and protocol; see add_double_tree().
  [[nodiscard]] std::map<std::pair<std::size_t, Protocol>, TreeStep>& tree_steps() const { return tree_steps_; }

 private:
  /// Channels that can hold what moves at the same time in one exchange: inside and outside boxes, to and from
  /// switches.
  [[nodiscard]] std::span<const ChannelId> joint_channels() const;

  const Topology* topology_;
  std::vector<Participant> ranks_;
  Transport transport_;
  PlanTimer timer_;
  mutable std::optional<GroupPattern> ring_;
  mutable std::optional<GroupPattern> pairs_;
  mutable std::optional<GroupPattern> trees_;
  mutable std::optional<GroupPattern> inside_;
  mutable std::optional<GroupPattern> outside_;
  mutable std::optional<SwitchWays> box_switches_;
  mutable std::optional<SwitchWays> network_switches_;
  mutable std::optional<std::vector<ChannelId>> joint_channels_;
  mutable std::vector<std::vector<std::size_t>> nodes_;
  mutable std::map<ChoiceKey, ExchangeChoice> choices_;
  mutable std::map<std::pair<std::size_t, Protocol>, TreeStep> tree_steps_;
};

}  // namespace gpuscale
