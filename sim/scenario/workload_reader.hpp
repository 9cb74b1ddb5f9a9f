#pragma once

#include "parallel/job.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// Reads `workload:` into the job: what to train, with which batch and precision.
void read_workload(const YamlValue& value, Job& job, Reading& reading);

/// Reads `input:`: where samples come from.
InputConfig read_input_config(const YamlValue& value, Reading& reading);

/// Reads "64 per gpu" or "256 global".
BatchSpec read_batch(const YamlValue& value, Reading& reading);

}  // namespace gpuscale
