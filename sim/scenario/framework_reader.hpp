#pragma once

#include <string>
#include <string_view>

#include "parallel/framework.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// Reads a framework that a value names or describes (workloads/README.md). Problems are noted; the
/// result is then not to be used.
Framework read_framework(const YamlValue& value, const std::string& path, Reading& reading);

/// What messages call a framework: its file's name, or "this framework" if it is written inline.
std::string_view in_words(const Framework& framework);

}  // namespace gpuscale
