#pragma once

#include <optional>
#include <string>

#include "scenario/link_reader.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "topology/fabric_spec.hpp"

namespace gpuscale {

/// Reads a fabric that a value names or describes (topologies/README.md). Whether it can join the boxes
/// of a cluster is for fabric_problems to say.
std::optional<FabricSpec> read_fabric(const YamlValue& value, const std::string& path, LinkTypes& types,
                                      Reading& reading);

/// Reads `equal_cost: {collisions: true, seed: 7}`.
EqualCostSpec read_equal_cost(const YamlValue& value, const std::string& path, Reading& reading);

}  // namespace gpuscale
