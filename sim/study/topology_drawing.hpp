#pragma once

/// \file
/// Pictures of a machine or cluster: one box in full and, if there are several, what joins them.

#include <string>

#include "study/topology_report.hpp"
#include "topology/cluster.hpp"

namespace gpuscale {

/// A self-contained SVG: the network on top, then memory and processors, switches, GPUs, NVLink below;
/// links coloured by kind and labelled with type and rate.
std::string topology_svg(const TopologyReport& report, const Cluster& cluster);

/// The same devices and links for Graphviz.
std::string topology_dot(const TopologyReport& report, const Cluster& cluster);

}  // namespace gpuscale
