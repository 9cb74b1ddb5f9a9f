#include "study/validate_tables.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

std::string dash_or(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string dash_or(const std::optional<Seconds>& value) { return value ? to_text(*value) : "-"; }

std::string signed_percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:+.1f} %", *fraction * 100.0) : "-";
}

template <class T>
TextColumn column(std::string title, int dispensable, std::span<const T> items,
                  const std::function<std::string(const T&)>& cell, bool right = true) {
  TextColumn result{.title = std::move(title), .right = right, .dispensable = dispensable, .cells = {}};
  for (const T& item : items) result.cells.push_back(cell(item));
  return result;
}

using RowFigure = std::optional<double> (RowResult::*)() const;

std::vector<RowResult> worst(std::span<const RowResult> rows, std::size_t count, RowFigure figure) {
  std::vector<RowResult> result;
  std::ranges::copy_if(rows, std::back_inserter(result),
                       [&](const RowResult& row) { return row.used && (row.*figure)().has_value(); });
  std::ranges::stable_sort(result, std::greater<>(), [&](const RowResult& row) { return std::abs(*(row.*figure)()); });
  if (result.size() > count) result.resize(count);
  return result;
}

}  // namespace

std::vector<TextColumn> group_columns(std::span<const GroupResult> groups) {
  using Group = GroupResult;
  const char* const percent = "{:.1f}";
  const char* const fraction = "{:.3f}";
  std::vector<TextColumn> columns = {
      column<Group>(
          "by", 0, groups, [](const Group& g) { return g.by; }, false),
      column<Group>(
          "name", 0, groups, [](const Group& g) { return g.name; }, false),
      column<Group>("rows", 2, groups, [](const Group& g) { return std::to_string(g.rows); }),
      column<Group>("used", 0, groups, [](const Group& g) { return std::to_string(g.used); }),
      column<Group>("time %", 0, groups, [&](const Group& g) { return dash_or(g.time_mape, percent); }),
      column<Group>("median %", 0, groups, [&](const Group& g) { return dash_or(g.time_median_ape, percent); }),
      column<Group>("roofline %", 0, groups, [&](const Group& g) { return dash_or(g.baseline_mape, percent); }),
      column<Group>("bias %", 1, groups, [&](const Group& g) { return dash_or(g.bias, "{:+.1f}"); }),
      column<Group>("bus %", 1, groups, [&](const Group& g) { return dash_or(g.bus_bandwidth_mape, percent); }),
      column<Group>("memory %", 0, groups, [&](const Group& g) { return dash_or(g.memory_mape, percent); }),
      column<Group>("tau", 0, groups, [](const Group& g) { return dash_or(g.kendall_tau, "{:.2f}"); }),
      column<Group>("ratio %", 2, groups, [&](const Group& g) { return dash_or(g.ratio_mape, percent); }),
      column<Group>("speed-up/N", 0, groups, [&](const Group& g) { return dash_or(g.efficiency_mae, fraction); }),
      column<Group>("if linear", 0, groups, [&](const Group& g) { return dash_or(g.linear_efficiency_mae, fraction); }),
  };
  // What no group has been measured by says nothing.
  std::erase_if(columns, [](const TextColumn& column) {
    return !column.cells.empty() &&
           std::ranges::all_of(column.cells, [](const std::string& cell) { return cell == "-"; });
  });
  return columns;
}

std::vector<GroupResult> not_by_order(std::span<const GroupResult> groups) {
  std::vector<GroupResult> result;
  std::ranges::copy_if(groups, std::back_inserter(result),
                       [](const GroupResult& group) { return group.by != kByOrder; });
  return result;
}

std::vector<GroupResult> worst_orders(std::span<const GroupResult> groups, std::size_t count) {
  std::vector<GroupResult> result;
  std::ranges::copy_if(groups, std::back_inserter(result),
                       [](const GroupResult& group) { return group.by == kByOrder && group.kendall_tau; });
  std::ranges::stable_sort(result, {}, [](const GroupResult& group) { return *group.kendall_tau; });
  if (result.size() > count) result.resize(count);
  return result;
}

std::vector<TextColumn> row_columns(std::span<const RowResult> rows) {
  using Row = RowResult;
  return {
      column<Row>(
          "row", 0, rows, [](const Row& r) { return r.id; }, false),
      column<Row>(
          "what", 0, rows, [](const Row& r) { return r.what; }, false),
      column<Row>("ours", 2, rows, [](const Row& r) { return dash_or(r.time); }),
      column<Row>("theirs", 2, rows, [](const Row& r) { return dash_or(r.time_measured); }),
      column<Row>("time", 0, rows, [](const Row& r) { return signed_percent(r.time_error()); }),
      column<Row>("memory", 1, rows, [](const Row& r) { return signed_percent(r.memory_error()); }),
      column<Row>("speed-up", 1, rows, [](const Row& r) { return dash_or(r.speedup, "{:.2f}"); }),
      column<Row>("theirs", 1, rows, [](const Row& r) { return dash_or(r.speedup_measured, "{:.2f}"); }),
      column<Row>("per GPU", 0, rows, [](const Row& r) { return dash_or(r.efficiency_error(), "{:+.3f}"); }),
  };
}

std::vector<RowResult> worst_times(std::span<const RowResult> rows, std::size_t count) {
  return worst(rows, count, &RowResult::time_error);
}

std::vector<RowResult> worst_memories(std::span<const RowResult> rows, std::size_t count) {
  return worst(rows, count, &RowResult::memory_error);
}

std::vector<RowResult> worst_efficiencies(std::span<const RowResult> rows, std::size_t count) {
  return worst(rows, count, &RowResult::efficiency_error);
}

std::vector<Unused> unused_of(std::span<const RowResult> rows) {
  std::vector<Unused> result;
  for (const RowResult& row : rows) {
    if (row.used) continue;
    auto found = std::ranges::find_if(
        result, [&](const Unused& entry) { return entry.source == row.source && entry.reason == row.reason; });
    if (found == result.end()) found = result.insert(result.end(), {row.source, row.reason, 0});
    ++found->rows;
  }
  std::ranges::stable_sort(result, std::greater<>(), &Unused::rows);
  return result;
}

}  // namespace gpuscale
