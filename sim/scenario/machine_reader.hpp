#pragma once

#include <string>

#include "scenario/link_reader.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// Reads a machine that a value names or describes (topologies/README.md): ranges written out, what it
/// is `like` read first, names joined, every device reachable. Problems are noted; the result is then
/// not to be used.
MachineSpec read_machine(const YamlValue& value, const std::string& path, LinkTypes& types, Reading& reading);

}  // namespace gpuscale
