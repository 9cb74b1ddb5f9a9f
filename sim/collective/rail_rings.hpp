#pragma once

#include <span>
#include <vector>

#include "collective/rings.hpp"
#include "topology/topology.hpp"
#include "units/id.hpp"

namespace gpuscale {

/// Rings over equal boxes with several network adapters in use: one for each adapter, with an equal share of the data.
/// Every ring visits the ranks of a box one after the other, along NVLinks where they join all of them; it starts in
/// each box at another rank, so that it comes in by one adapter and leaves by its neighbour. Empty where ranks are not
/// grouped by box, boxes are unequal, or one adapter serves all.
std::vector<Ring> rail_rings(const Topology& topology, std::span<const DeviceId> gpus);

}  // namespace gpuscale
