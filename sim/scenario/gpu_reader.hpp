#pragma once

#include <string>

#include "hardware/gpu.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// Reads a GPU that a value names or describes (topologies/README.md), with its family. `path` is where
/// the value stands in a scenario. Problems are noted; the result is then not to be used.
Gpu read_gpu(const YamlValue& value, const std::string& path, Reading& reading);

}  // namespace gpuscale
