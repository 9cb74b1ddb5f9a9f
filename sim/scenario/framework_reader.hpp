#pragma once

#include <string>

#include "parallel/framework.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// Reads a framework that a value names or describes (workloads/README.md). Problems are noted; the
/// result is then not to be used.
Framework read_framework(const YamlValue& value, const std::string& path, Reading& reading);

}  // namespace gpuscale
