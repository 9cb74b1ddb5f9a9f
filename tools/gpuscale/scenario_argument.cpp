#include "scenario_argument.hpp"

#include <fmt/format.h>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale::tool {

namespace {

constexpr std::string_view kFolder = "workloads/scenarios";

std::string neither_text(const std::string& word, const Library& library) {
  std::vector<std::string> folders;
  for (const std::filesystem::path& root : library.roots()) folders.push_back((root / kFolder).string());
  const std::vector<std::string> names = library.names(kFolder);
  const std::string stem = std::filesystem::path(word).stem().string();
  const std::string hint = did_you_mean(stem, std::vector<std::string_view>(names.begin(), names.end()));
  return fmt::format("there is no such file, and no scenario of that name in {}{}", fmt::join(folders, ", "),
                     hint.empty() ? "; 'gpuscale list scenarios' shows them" : hint);
}

}  // namespace

std::filesystem::path scenario_path(const std::string& word, const Library& library) {
  if (word.empty()) throw UsageError("the scenario is an empty word; give a file, a name, or - for standard input");
  std::error_code error;
  const bool found =
      word == "-" || std::filesystem::status(word, error).type() != std::filesystem::file_type::not_found;
  if (found) return word;  // what is wrong with it, reading it tells
  if (std::filesystem::path shipped = library.find(kFolder, word); !shipped.empty()) return shipped;
  throw ScenarioError({{{word, 0, 0}, neither_text(word, library)}});
}

}  // namespace gpuscale::tool
