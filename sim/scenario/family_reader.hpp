#pragma once

#include "hardware/family.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// Reads an architecture family by name, path or inline; its keys are those of hardware/README.md.
Family read_family(const YamlValue& value, Reading& reading);

}  // namespace gpuscale
