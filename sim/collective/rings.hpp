#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "collective/pattern.hpp"
#include "topology/topology.hpp"
#include "units/id.hpp"

namespace gpuscale {

/// Legs by which each rank sends to the next and the last to the first.
using Ring = std::vector<Leg>;

/// Rings that together use as much of a direct NVLink mesh as possible, each with an equal share of the
/// data: on a DGX-1 with V100 six, so that a GPU sends over all its six links. Each undirected ring is
/// there in both directions. Where no ring has a link for every leg, as with five cards of a DGX-1, a leg
/// may pass over the links of a third rank. Without such a mesh: one ring in rank order. Searched exhaustively, for at
/// most kMeshRanks ranks.
std::vector<Ring> find_rings(const Topology& topology, std::span<const DeviceId> gpus);

inline constexpr std::size_t kMeshRanks = 8;

/// find_rings() for many groups, with one search for all whose cards are joined alike.
class RingFinder {
 public:
  std::vector<Ring> rings(const Topology& topology, std::span<const DeviceId> gpus);

 private:
  std::map<std::vector<int>, std::vector<Ring>> known_ = {};  ///< by how many rings fit between each pair
};

}  // namespace gpuscale
