#include "scenario/rule_value_reader.hpp"

#include <fmt/format.h>

#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::string_view kBetweenPatterns = " | ";

/// The patterns of a case: one, or with several columns one for each.
std::vector<std::string> split_patterns(const YamlEntry& entry, std::size_t columns, Reading& reading) {
  std::vector<std::string> patterns;
  std::string_view text = entry.key;
  while (columns > 1) {
    const std::size_t end = text.find(kBetweenPatterns);
    patterns.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + kBetweenPatterns.size());
  }
  if (columns <= 1) return {std::string(text)};
  if (patterns.size() != columns) {
    reading.note(entry.place(), fmt::format("the case '{}' has {} patterns for {} columns; put ' | ' between them",
                                            entry.key, patterns.size(), columns));
    patterns.resize(columns, "*");
  }
  return patterns;
}

RuleCase read_case(const YamlValue& value, std::string_view what, bool may_be_yaml, Reading& reading) {
  RuleCase result;
  if (value.is_scalar()) {
    result.text = value.text;
  } else if (may_be_yaml && !value.is_null()) {
    result.text = to_yaml(value);
    result.is_yaml = true;
  } else if (!may_be_yaml) {
    reading.note(value.place(), fmt::format("'{}' must be a text, not {}", what, words(value.kind)));
  }
  return result;
}

void read_cases(const YamlValue& cases, std::string_view what, bool may_be_yaml, RuleValue& result, Reading& reading) {
  if (!cases.is_map() || cases.entries.empty()) {
    reading.note(cases.place(), fmt::format("'cases' must be a map of patterns and values, not {}",
                                            cases.is_map() ? "an empty one" : words(cases.kind)));
    return;
  }
  for (const YamlEntry& entry : cases.entries) {
    RuleCase choice = read_case(entry.value, what, may_be_yaml, reading);
    choice.patterns = split_patterns(entry, result.columns.size(), reading);
    result.cases.push_back(std::move(choice));
  }
}

}  // namespace

std::vector<std::string> read_texts(const YamlValue& value, std::string_view what, Reading& reading) {
  std::vector<std::string> texts;
  const auto add = [&](const YamlValue& item) {
    if (item.is_scalar()) texts.push_back(item.text);  // an empty one is meant: an empty cell
    if (!item.is_scalar()) {
      reading.note(item.place(), fmt::format("'{}' must be a text or a list of texts, not {}", what, words(item.kind)));
    }
  };
  if (!value.is_list()) add(value);
  for (const YamlValue& item : value.items) add(item);
  if (value.is_list() && value.items.empty()) reading.note(value.place(), fmt::format("'{}' is an empty list", what));
  return texts;
}

RuleValue read_rule_value(const YamlValue& value, std::string_view what, bool may_be_yaml, Reading& reading) {
  RuleValue result;
  result.place = value.place();
  if (value.find("cases") == nullptr && value.find("between") == nullptr) {
    result.cases.push_back(read_case(value, what, may_be_yaml, reading));
    return result;
  }
  MapReader reader(value, what == "is" ? "measured is" : std::string(what), "-", reading);
  if (const YamlValue* column = reader.require("column", "model")) {
    result.columns = read_texts(*column, "column", reading);
  }
  if (const YamlValue* between = reader.find("between")) {
    result.between = read_texts(*between, "between", reading);
    if (result.between.size() != 2 || result.columns.size() != 1) {
      reading.note(between->place(), "'between' must be two texts, such as [\"memory \", \" GiB\"], of one column");
      result.between.resize(2);
    }
  }
  if (const YamlValue* cases = reader.find("cases")) read_cases(*cases, what, may_be_yaml, result, reading);
  reader.finish();
  return result;
}

}  // namespace gpuscale
