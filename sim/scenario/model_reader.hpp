#pragma once

#include <string>

#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "workload/model_spec.hpp"

namespace gpuscale {

/// Reads a model that a value names or describes (workloads/README.md), blocks written out; shapes are
/// checked by lower(). Problems are noted; the result is then not to be used.
ModelSpec read_model(const YamlValue& value, const std::string& path, Reading& reading);

}  // namespace gpuscale
