#pragma once

/// \file
/// Hardware with other figures: what calibration and sensitivity change and simulate again.

#include <string>
#include <string_view>
#include <vector>

#include "parallel/job.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// Kinds of links of a cluster (pcie, nvlink, socket, memory, infiniband, ethernet, fabric), each once, as first met.
std::vector<std::string> link_kinds(const ClusterSpec& cluster);

/// Links of a kind have `factor` times their rate; an empty kind means all. Channels of a host's own (root complexes,
/// staging) go with the kinds they serve: pcie and memory.
void scale_link_rates(ClusterSpec& cluster, std::string_view kind, double factor);

/// Links of a kind take `factor` times their latency and their protocols' steps; an empty kind means all.
void scale_link_latencies(ClusterSpec& cluster, std::string_view kind, double factor);

/// All host costs of a framework `factor` times as long.
void scale_host(Framework& framework, double factor);

/// Software costs of exchanges `factor` times as long.
void scale_exchange_costs(Framework& framework, double factor);

/// A job and its cluster as a calibration says they are. The job's own calibration is used up: it is neutral
/// afterwards.
void apply_calibration(Job& job, ClusterSpec& cluster);

}  // namespace gpuscale
