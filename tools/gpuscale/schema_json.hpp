#pragma once

#include <span>
#include <string>

#include "scenario/schema.hpp"

namespace gpuscale::tool {

/// A JSON Schema (draft 2020-12) of a scenario. It names every key and checks what a schema can check;
/// units and conditions across keys are the program's.
std::string json_schema(std::span<const SchemaKey> keys);

}  // namespace gpuscale::tool
