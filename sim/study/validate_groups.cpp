#include "study/validate_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

namespace gpuscale {

namespace {

constexpr double kPercent = 100.0;

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> magnitudes(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

/// The signed errors of the rows of a group.
struct Errors {
  std::vector<double> time;
  std::vector<double> bus_bandwidth;
  std::vector<double> ratio;
  std::vector<double> efficiency;
  std::vector<double> linear;
  std::vector<double> baseline;
  std::vector<double> memory;
  std::vector<const RowResult*> rows;

  void add(const RowResult& row) {
    rows.push_back(&row);
    if (const std::optional<double> error = row.memory_error()) memory.push_back(kPercent * *error);
    if (const std::optional<double> error = row.time_error()) time.push_back(kPercent * *error);
    if (const std::optional<double> error = row.bus_bandwidth_error()) bus_bandwidth.push_back(kPercent * *error);
    if (const std::optional<double> error = row.baseline_error()) baseline.push_back(kPercent * *error);
    if (const std::optional<double> error = row.efficiency_error()) {
      ratio.push_back(kPercent * (*row.speedup / *row.speedup_measured - 1.0));
      efficiency.push_back(*error);
      linear.push_back(*row.linear_error());
    }
  }
};

/// 1 if two rows stand in the measured order, -1 if in the other, 0 if one of both pairs is equal.
double order_of(const RowResult& one, const RowResult& other) {
  const double ours = (*one.time - *other.time).count();
  const double theirs = (*one.time_measured - *other.time_measured).count();
  return ours * theirs > 0 ? 1.0 : ours * theirs < 0 ? -1.0 : 0.0;
}

std::optional<double> kendall_tau(const std::vector<const RowResult*>& rows) {
  std::vector<double> orders;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = !rows[i]->ranked_key.empty() && rows[i]->ranked_key == rows[j]->ranked_key &&
                            rows[i]->source == rows[j]->source;
      if (together && rows[i]->time_error() && rows[j]->time_error()) orders.push_back(order_of(*rows[i], *rows[j]));
    }
  }
  return mean(orders);
}

void fill(GroupResult& group, const Errors& errors) {
  group.time_mape = mean(magnitudes(errors.time));
  group.time_median_ape = median(magnitudes(errors.time));
  group.bus_bandwidth_mape = mean(magnitudes(errors.bus_bandwidth));
  group.ratio_mape = mean(magnitudes(errors.ratio));
  group.efficiency_mae = mean(magnitudes(errors.efficiency));
  group.linear_efficiency_mae = mean(magnitudes(errors.linear));
  group.memory_mape = mean(magnitudes(errors.memory));
  group.kendall_tau = kendall_tau(errors.rows);
  group.bias = mean(errors.time);
  group.baseline_mape = mean(magnitudes(errors.baseline));
}

/// The group a row is in; empty: none.
using Key = std::string (*)(const RowResult& row);

void add_groups(std::vector<GroupResult>& groups, std::span<const RowResult> rows, std::string_view by, Key key) {
  std::vector<std::pair<GroupResult, Errors>> found;
  for (const RowResult& row : rows) {
    const std::string name = key(row);
    if (name.empty()) continue;
    auto group = std::ranges::find_if(found, [&](const auto& entry) { return entry.first.name == name; });
    if (group == found.end()) {
      found.emplace_back();
      group = found.end() - 1;
      group->first.by = by;
      group->first.name = name;
    }
    ++group->first.rows;
    if (!row.used) continue;
    ++group->first.used;
    group->second.add(row);
  }
  for (auto& [group, errors] : found) {
    fill(group, errors);
    groups.push_back(std::move(group));
  }
}

}  // namespace

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

std::vector<GroupResult> groups_of(std::span<const RowResult> rows) {
  constexpr std::array<std::pair<std::string_view, Key>, 6> kKeys = {{
      {"source", [](const RowResult& row) { return row.source; }},
      {"family", [](const RowResult& row) { return row.family; }},
      {"machine", [](const RowResult& row) { return row.machine; }},
      {"class", [](const RowResult& row) { return row.class_name; }},
      {kByOrder,
       [](const RowResult& row) { return row.ranked_key.empty() ? std::string() : row.source + " " + row.ranked_key; }},
      {"card",
       [](const RowResult& row) {
         return row.card.empty() || row.class_name.empty() ? std::string() : row.class_name + " " + row.card;
       }},
  }};
  std::vector<GroupResult> groups;
  for (const auto& [by, key] : kKeys) add_groups(groups, rows, by, key);
  return groups;
}

}  // namespace gpuscale
