#pragma once

#include <filesystem>
#include <string>

#include "scenario/library.hpp"

namespace gpuscale::tool {

/// The file a word of the command line stands for: a path, `-` for standard input or, where there is no
/// such file, the name of a scenario of the library, as in `gpuscale run quickstart`.
/// \throws UsageError for an empty word, ScenarioError if there is neither, with the folders searched.
std::filesystem::path scenario_path(const std::string& word, const Library& library);

}  // namespace gpuscale::tool
