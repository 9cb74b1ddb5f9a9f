#pragma once

#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// Most GPUs and most machines a scenario may have.
inline constexpr std::int64_t kMostGpus = 100'000;

/// Reads `cluster:`, with the cluster file it may name.
ClusterSpec read_cluster(const YamlValue& value, Reading& reading);

}  // namespace gpuscale
