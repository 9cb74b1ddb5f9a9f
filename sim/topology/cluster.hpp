#pragma once

#include <cstddef>
#include <vector>

#include "topology/machine_spec.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// A cluster as built: the graph and which GPUs the job uses, in rank order.
struct Cluster {
  Topology topology;
  std::vector<DeviceId> ranks;
};

/// Where a rank's card sits.
struct RankSlot {
  std::size_t box = 0;
  std::size_t slot = 0;  ///< among the GPUs of the box, in the machine file's order
};

/// By rank; those of one box follow each other, so that a ring enters and leaves each box once.
/// \pre the GPUs fit into the slots
std::vector<RankSlot> rank_slots(const ClusterSpec& spec);

/// A connection that ends at a card: no faster and no wider than the card's own bus.
ConnectionSpec in_slot(ConnectionSpec connection, const BusOfCard& bus);

/// How a library copies between GPUs that do not reach each other.
struct HostCopies {
  /// What a GPU sends through host memory while it receives as much; twice that one way. Empty: what its links carry.
  std::optional<BytesPerSecond> staged_rate = {};
  bool one_memory = false;  ///< through the memory nearest to the first GPU of a box; else to the one that sends
};

/// Builds every box and the fabric between them, and places the ranks.
/// \throws ScenarioError if a link names a device that is not there or a GPU cannot reach another.
Cluster build_cluster(const ClusterSpec& spec, const HostCopies& copies = {});

}  // namespace gpuscale
