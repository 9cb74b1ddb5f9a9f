#pragma once

#include <vector>

#include "topology/machine_spec.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// A cluster as built: the graph and which GPUs the job uses, in rank order.
struct Cluster {
  Topology topology;
  std::vector<DeviceId> ranks;
};

/// Builds every box and the fabric between them, and places the ranks.
/// \throws ScenarioError if a link names a device that is not there or a GPU cannot reach another.
Cluster build_cluster(const ClusterSpec& spec);

}  // namespace gpuscale
