#pragma once

/// \file
/// Family files: read by the scenario library, changed in place so that comments and order stay.

#include <filesystem>
#include <string_view>

#include "hardware/family.hpp"
#include "scenario/library.hpp"

namespace gpuscale::fit {

/// \throws ScenarioError with every problem of the file
Family load_family(std::string_view name, const Library& library);

/// Writes every fitted constant of `family`, rounded to three digits, over the number that stands in the file.
/// \throws ScenarioError if the file cannot be read or written
void write_family(const std::filesystem::path& file, const Family& family);

}  // namespace gpuscale::fit
