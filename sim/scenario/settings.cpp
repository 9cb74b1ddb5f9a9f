#include "scenario/settings.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "scenario/yaml_parse.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

std::optional<std::vector<std::string_view>> steps(std::string_view path) {
  std::vector<std::string_view> result;
  for (;;) {
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    if (step.empty() || result.size() >= static_cast<std::size_t>(kDeepestNesting)) return std::nullopt;
    result.push_back(step);
    if (dot == std::string_view::npos) return result;
    path.remove_prefix(dot + 1);
  }
}

YamlValue* list_item(YamlValue& list, std::string_view step) {
  std::size_t index = 0;
  const std::from_chars_result result = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool is_index = result.ec == std::errc() && result.ptr == step.data() + step.size();
  return is_index && index < list.items.size() ? &list.items[index] : nullptr;
}

std::string origin_of(const Setting& setting) {
  if (!setting.origin.file.empty()) return setting.origin.file;
  return setting.path.empty() ? "--set" : "--set " + setting.path;
}

class SettingWriter {
 public:
  SettingWriter(const Setting& setting, std::vector<Problem>& problems)
      : setting_(setting), origin_(std::make_shared<const std::string>(origin_of(setting))), problems_(problems) {}

  void write(YamlValue& root) {
    const std::optional<std::vector<std::string_view>> path = steps(setting_.path);
    if (!path)
      return note(
          fmt::format("{} is not a path; write keys with dots, such as cluster.gpus", in_quotes(setting_.path)));
    if (path->front() == "sweep") return note("a sweep is not set; give its axis with --sweep path=value,value");
    YamlDocument parsed = parse_yaml_value(setting_.value, *origin_);
    if (!parsed.problems.empty()) {
      for (Problem& problem : parsed.problems) note(std::move(problem.text));
      return;
    }
    if (parsed.root.is_null()) return note(fmt::format("no value; write {}=value", *origin_));
    place_at_origin(parsed.root);
    if (YamlValue* place = descend(root, *path)) *place = std::move(parsed.root);
  }

 private:
  YamlValue* descend(YamlValue& root, const std::vector<std::string_view>& path) {
    YamlValue* at = &root;
    std::string walked;
    for (const std::string_view step : path) {
      if (at->is_list()) {
        const std::size_t size = at->items.size();
        at = list_item(*at, step);
        if (at == nullptr) {
          note(fmt::format("'{}' is a list of {} items; {} is not the number of one, counted from 0", walked, size,
                           in_quotes(step)));
          return nullptr;
        }
      } else if (at->is_map() || at->is_null()) {
        if (at->is_null()) *at = empty_map();
        at = entry(*at, step);
      } else {
        note(fmt::format("'{}' has the value {} and no keys below it; set '{}' as a whole", walked, in_quotes(at->text),
                         walked));
        return nullptr;
      }
      walked += walked.empty() ? std::string(step) : fmt::format(".{}", step);
    }
    return at;
  }

  YamlValue* entry(YamlValue& map, std::string_view key) const {
    const auto found = std::ranges::find(map.entries, key, &YamlEntry::key);
    if (found != map.entries.end()) return &found->value;
    map.entries.push_back({std::string(key), setting_.origin.line, setting_.origin.column, origin_, empty_map()});
    return &map.entries.back().value;
  }

  [[nodiscard]] YamlValue empty_map() const {
    YamlValue map;
    map.kind = YamlKind::map;
    map.file = origin_;
    map.line = setting_.origin.line;
    map.column = setting_.origin.column;
    return map;
  }

  /// The value was parsed as a text of its own; its place is that of the setting.
  void place_at_origin(YamlValue& value) const {
    value.line = setting_.origin.line;
    value.column = setting_.origin.column;
    for (YamlValue& item : value.items) place_at_origin(item);
    for (YamlEntry& item : value.entries) {
      item.line = setting_.origin.line;
      item.column = setting_.origin.column;
      place_at_origin(item.value);
    }
  }

  void note(std::string text) {
    problems_.push_back({{*origin_, setting_.origin.line, setting_.origin.column}, std::move(text)});
  }

  const Setting& setting_;
  std::shared_ptr<const std::string> origin_;
  std::vector<Problem>& problems_;
};

}  // namespace

void apply_settings(YamlValue& root, const std::vector<Setting>& settings, std::vector<Problem>& problems) {
  for (const Setting& setting : settings) SettingWriter(setting, problems).write(root);
}

}  // namespace gpuscale
