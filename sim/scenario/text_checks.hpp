#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "units/diagnostic.hpp"

namespace gpuscale {

/// Files above this are not descriptions that a person wrote.
inline constexpr std::size_t kLargestFile = std::size_t{16} * 1024 * 1024;

/// What is wrong with a text before YAML is asked: its size, bytes that are not UTF-8 text, tabs that
/// indent. `whole_file` is false for a value from the command line, which has no lines to name.
std::vector<Problem> check_text(std::string_view text, const std::string& file, bool whole_file = true);

}  // namespace gpuscale
