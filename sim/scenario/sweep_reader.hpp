#pragma once

#include <vector>

#include "scenario/scenario.hpp"
#include "scenario/yaml_value.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale {

/// Reads `sweep:`, values kept as YAML text. Paths must be those of the schema.
std::vector<SweepAxis> read_sweep(const YamlValue& value, std::vector<Problem>& problems);

}  // namespace gpuscale
