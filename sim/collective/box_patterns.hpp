#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/pattern.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// The ranks of each box, by number, boxes in the order of their first rank.
using RanksByBox = std::vector<std::vector<std::size_t>>;

/// The rings inside each box, over NVLinks where they join its ranks; each has its share of the box's data as weight.
Pattern rings_inside(const Topology& topology, std::span<const Participant> ranks, const RanksByBox& boxes);

/// A ring over all boxes for each place in them, so that every adapter has work. \pre boxes of equal size
Pattern rings_outside(const RanksByBox& boxes);

}  // namespace gpuscale
