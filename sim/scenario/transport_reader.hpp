#pragma once

#include <string>
#include <string_view>

#include "collective/exchange.hpp"
#include "scenario/library.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// Reads a transport that a value names or describes (workloads/README.md). With `like`, what is not written
/// is as in the transport named there. Problems are noted; the result is then not to be used.
Transport read_transport(const YamlValue& value, const std::string& path, Reading& reading);

/// The transport of a name in the library. \throws ScenarioError with every problem found
Transport load_transport(std::string_view name, const Library& library);

}  // namespace gpuscale
