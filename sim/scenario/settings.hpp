#pragma once

#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"
#include "scenario/yaml_value.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale {

/// Writes settings over a document, maps on the way made where they are missing. What is wrong with a
/// setting has the place it was written at, "--set path" if it does not know it.
void apply_settings(YamlValue& root, const std::vector<Setting>& settings, std::vector<Problem>& problems);

}  // namespace gpuscale
