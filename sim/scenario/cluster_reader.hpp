#pragma once

#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// Most GPUs and most machines a scenario may have.
inline constexpr std::int64_t kMostGpus = 100'000;

/// What a cluster that does not say how many GPUs the job uses means.
enum class MissingGpus { refused, all_slots };

/// Reads `cluster:`, with the cluster file it may name.
ClusterSpec read_cluster(const YamlValue& value, Reading& reading, MissingGpus missing = MissingGpus::refused);

}  // namespace gpuscale
