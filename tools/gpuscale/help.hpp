#pragma once

#include <string>

#include "commands.hpp"

namespace gpuscale::tool {

/// What `gpuscale --help` prints.
std::string overview();

/// \throws UsageError with a hint
const Command& command_named(const std::string& name);

}  // namespace gpuscale::tool
