#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace gpuscale {

/// An index with a tag, so that a link number cannot index the devices. A default-constructed id
/// names nothing; `valid()` tells.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}

  [[nodiscard]] constexpr std::size_t index() const { return index_; }
  [[nodiscard]] constexpr bool valid() const { return index_ != kNone; }

  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t index_ = kNone;
};

/// A piece of hardware in a topology: GPU, socket, switch, memory, network adapter.
using DeviceId = Id<struct DeviceTag>;
/// A one-way link of a topology.
using LinkId = Id<struct LinkTag>;
/// A rate that transfers share: a link's own, or one that several links have in common.
using ChannelId = Id<struct ChannelTag>;
/// A task of a plan.
using TaskId = Id<struct TaskTag>;
/// A place that does one task at a time: a GPU's compute stream, a host thread.
using LaneId = Id<struct LaneTag>;

}  // namespace gpuscale
