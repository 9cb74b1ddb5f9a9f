#pragma once

/// \file
/// What ranks load when switches add up for them.

#include <span>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/hops.hpp"
#include "hardware/link_type.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// Of one rank, per byte that goes up to the switches and per byte that comes down.
struct SwitchWay {
  Hops up = {};
  Hops down = {};
  LinkProtocol figures = {};  ///< what the link type says of such sums
};

/// Of a tensor's bytes, what each rank sends up to switches that sum, and what comes down to it.
struct SwitchShares {
  double up = 1.0;
  double down = 1.0;
};

/// Of all ranks of a group.
struct SwitchWays {
  std::vector<SwitchWay> ranks = {};  ///< empty: they have no switches that sum
  Hops up = {};                       ///< of all together
  Hops down = {};
  LinkProtocol figures = {};  ///< the slowest of all in every respect

  [[nodiscard]] bool exist() const { return !ranks.empty(); }
};

/// What both ways load in these shares.
Hops together(const Hops& up, const Hops& down, const SwitchShares& shares);

/// Over the NVLinks of each rank to the switches of its box. None if a rank has none, or its switches do not sum.
SwitchWays box_switch_ways(const Topology& topology, std::span<const Participant> ranks);

/// Over the adapter of each rank to its first network switch, without the host. None if a rank lacks GPUDirect or an
/// adapter, or its switch does not sum. Links between switches carry one stream a switch and are taken as free.
SwitchWays network_switch_ways(const Topology& topology, std::span<const Participant> ranks);

}  // namespace gpuscale
