#pragma once

#include "parallel/framework.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// What a framework writes out in simpler operators: operators of models, and updates. `value` is the `written_out` of
/// its file: the name of a file in workloads/operators, a path or a map.
void read_written_out(const YamlValue& value, Framework& framework, Reading& reading);

}  // namespace gpuscale
