#pragma once

#include <span>
#include <string>
#include <vector>

#include "topology/fabric_spec.hpp"
#include "topology/machine_spec.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// Network adapters of each box, in the order of the machine file.
using AdaptersOfBoxes = std::span<const std::vector<DeviceId>>;

/// Adds the switches of a fabric and the links of every adapter. The fabric must have no
/// fabric_problems.
void add_fabric(TopologyBuilder& builder, const ClusterSpec& spec, AdaptersOfBoxes boxes);

/// What keeps a fabric from joining the boxes of a cluster: numbers that do not fit, names of an
/// explicit graph that are not there. Cheap, also for absurd numbers.
std::vector<Problem> fabric_problems(const ClusterSpec& spec);

/// Network adapters of one box.
int adapters_per_box(const MachineSpec& machine);

}  // namespace gpuscale
