#pragma once

#include <limits>
#include <span>
#include <vector>

#include "collective/exchange.hpp"
#include "plan/plan.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// Copies that move at one common pace: what they load together, their ceiling and their latency.
struct Hops {
  std::vector<ChannelLoad> loads = {};  ///< per byte that each copy moves, channels in ascending order
  BytesPerSecond cap{std::numeric_limits<double>::infinity()};
  Seconds latency = {};  ///< of the slowest copy, with the transport's cost of a message

  /// Adds a copy of `weight` bytes for each byte of the whole.
  void add(const Topology& topology, DeviceId from, DeviceId to, const Transport& transport, double weight = 1.0);
};

/// One copy.
Hops hop(const Topology& topology, DeviceId from, DeviceId to, const Transport& transport);

}  // namespace gpuscale
