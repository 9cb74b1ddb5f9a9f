#include "scenario/sweep_reader.hpp"

#include <fmt/format.h>

#include "scenario/schema.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kMostValues = 10'000;
constexpr double kMostPoints = 1e6;

std::string unknown_path(std::string_view path) {
  std::vector<std::string_view> known;
  for (const SchemaKey& key : scenario_schema()) known.push_back(key.path);
  std::string hint = did_you_mean(path, known);
  if (hint.empty()) hint = key_elsewhere(path.substr(path.rfind('.') + 1), "");
  return fmt::format("unknown path {} in sweep{}", in_quotes(path),
                     hint.empty() ? "; 'gpuscale schema' lists the keys" : hint);
}

}  // namespace

std::vector<SweepAxis> read_sweep(const YamlValue& value, std::vector<Problem>& problems) {
  std::vector<SweepAxis> axes;
  const auto note = [&](Place place, std::string text) { problems.push_back({std::move(place), std::move(text)}); };
  if (!value.is_map()) {
    note(value.place(),
         fmt::format("'sweep' must be a map of paths and lists, such as {{cluster.gpus: [1, 2, 4]}}, not {}",
                     words(value.kind)));
    return axes;
  }
  double points = 1;
  for (const YamlEntry& entry : value.entries) {
    if (!is_scenario_path(entry.key)) {
      note(entry.place(), unknown_path(entry.key));
      continue;
    }
    if (!entry.value.is_list() || entry.value.items.empty()) {
      note(entry.value.is_null() ? entry.place() : entry.value.place(),
           fmt::format("the values of {} must be a list, such as [1, 2, 4], not {}", in_quotes(entry.key),
                       entry.value.is_list() ? "an empty one" : words(entry.value.kind)));
      continue;
    }
    points *= static_cast<double>(entry.value.items.size());
    if (entry.value.items.size() > kMostValues || points > kMostPoints) {
      note(entry.value.place(), fmt::format("the sweep has more than {} points", static_cast<long>(kMostPoints)));
      break;
    }
    SweepAxis axis{entry.key, {}, entry.place()};
    for (const YamlValue& item : entry.value.items) {
      if (item.is_null()) note(item.place(), fmt::format("a value of {} is empty", in_quotes(entry.key)));
      axis.values.push_back(to_yaml(item));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

}  // namespace gpuscale
