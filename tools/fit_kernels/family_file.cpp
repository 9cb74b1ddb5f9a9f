#include "family_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "constants.hpp"
#include "scenario/family_reader.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_parse.hpp"

namespace gpuscale::fit {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, std::string text) {
  throw ScenarioError({{{file.string(), 0, 0}, std::move(text)}});
}

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) refuse(file, "cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

const YamlValue& value_at(const YamlValue& root, std::string_view path, const std::filesystem::path& file) {
  const YamlValue* value = &root;
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view key = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(key.size() + 1, rest.size()));
    const YamlEntry* entry = value->find(key);
    if (entry == nullptr) refuse(file, fmt::format("has no {}", path));
    value = &entry->value;
  }
  return *value;
}

std::string text_of(const Constant& constant, const Family& family) {
  const double value = value_of(constant, family);
  return constant.time != nullptr ? fmt::format("{:.3g} us", value * 1e6) : fmt::format("{:.3g}", value);
}

struct Replacement {
  std::size_t line;
  std::size_t column;
  std::size_t length;
  std::string text;
};

}  // namespace

Family load_family(std::string_view name, const Library& library) {
  Reading reading(library);
  YamlValue value;
  value.kind = YamlKind::scalar;
  value.text = name;
  Family family = read_family(value, reading);
  if (!reading.problems().empty()) throw ScenarioError(reading.problems());
  return family;
}

void write_family(const std::filesystem::path& file, const Family& family) {
  std::vector<std::string> lines = read_lines(file);
  std::ostringstream whole;
  for (const std::string& line : lines) whole << line << '\n';
  const YamlDocument document = parse_yaml(whole.str(), file.string());
  if (!document.problems.empty()) throw ScenarioError(document.problems);
  std::vector<Replacement> replacements;
  for (const Constant& constant : constants()) {
    const YamlValue& old = value_at(document.root, constant.path, file);
    replacements.push_back({static_cast<std::size_t>(old.line) - 1, static_cast<std::size_t>(old.column) - 1,
                            old.text.size(), text_of(constant, family)});
  }
  // From the end of each line, so that columns stay true.
  std::ranges::sort(replacements, std::ranges::greater(), &Replacement::column);
  for (const Replacement& change : replacements) lines[change.line].replace(change.column, change.length, change.text);
  std::ofstream out(file);
  for (const std::string& line : lines) out << line << '\n';
  if (!out.flush()) refuse(file, "cannot be written");
}

}  // namespace gpuscale::fit
