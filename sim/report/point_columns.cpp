#include "report/point_columns.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <string>

#include "report/settings.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::string_view kGpusKey = "cluster.gpus";

/// Builds columns over a list of reports.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(std::span<const Report> reports) : reports_(reports) {}

  /// A column of figures, which a refused point has not.
  void add(std::string title, int dispensable, const std::function<std::string(const Report&)>& cell,
           bool right = true) {
    add_asked(
        std::move(title), dispensable, [&](const Report& r) { return is_refused(r) ? "-" : cell(r); }, right);
  }

  /// A column of what was asked for, which every point has.
  void add_asked(std::string title, int dispensable, const std::function<std::string(const Report&)>& cell,
                 bool right) {
    TextColumn column{.title = std::move(title), .right = right, .dispensable = dispensable, .cells = {}};
    for (const Report& report : reports_) column.cells.push_back(cell(report));
    columns_.push_back(std::move(column));
  }

  void add_problems() {
    if (std::ranges::none_of(reports_, is_refused)) return;
    add_asked(
        "problem", 0, [](const Report& report) { return report.problem; }, false);
    columns_.back().wraps = true;
    columns_.back().below = true;
  }

  [[nodiscard]] bool any(const std::function<bool(const Report&)>& holds) const {
    return std::ranges::any_of(reports_, [&](const Report& report) { return !is_refused(report) && holds(report); });
  }

  std::vector<TextColumn> take() { return std::move(columns_); }

 private:
  std::span<const Report> reports_;
  std::vector<TextColumn> columns_;
};

bool starts_like_a_number(const std::string& text) {
  return !text.empty() && ((text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == '.');
}

std::vector<std::string> varying_keys(std::span<const Report> reports) {
  std::vector<std::string> keys = setting_keys(reports);
  std::erase_if(keys, [&](const std::string& key) { return setting_values(reports, key).size() < 2; });
  return keys;
}

void add_keys(ColumnBuilder& builder, std::span<const Report> reports, const std::vector<std::string>& keys) {
  const std::vector<std::string> names = short_names(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool numbers = std::ranges::all_of(setting_values(reports, keys[i]), starts_like_a_number);
    builder.add_asked(
        keys[i] == kGpusKey ? "GPUs" : names[i], 0, [&](const Report& report) { return setting_of(report, keys[i]); },
        numbers);
  }
}

std::string optional_text(const std::optional<double>& value, std::string (*text)(double)) {
  return value ? text(*value) : "-";
}

double share(const Report& report, const SplitPart& part) {
  return report.step_time.count() > 0 ? (report.split.*part.time) / report.step_time : 0.0;
}

const SplitPart& largest_part(const Report& report) {
  return *std::ranges::max_element(kSplitParts, {}, [&](const SplitPart& part) { return report.split.*part.time; });
}

void add_split(ColumnBuilder& builder) {
  constexpr double kVisible = 0.0005;  // less would print as 0.0 %
  int dispensable = 3;
  for (const SplitPart& part : kSplitParts) {
    if (!builder.any([&](const Report& report) { return share(report, part) >= kVisible; })) continue;
    builder.add(std::string(part.heading), dispensable++,
                [&](const Report& report) { return percent_text(share(report, part)); });
  }
}

/// Whether no point with figures has samples, and there is one.
bool are_transfers(std::span<const Report> reports) {
  const auto first = std::ranges::find_if_not(reports, is_refused);
  return first != reports.end() &&
         std::ranges::all_of(reports, [](const Report& r) { return is_refused(r) || is_transfer(r); });
}

/// "exchange 88 %": what takes most of the step.
std::string limit_text(const Report& report) {
  if (!report.memory.fits) return "memory";
  const SplitPart& most = largest_part(report);
  return fmt::format("{} {:.0f} %", most.heading, 100 * share(report, most));
}

}  // namespace

std::vector<TextColumn> point_columns(std::span<const Report> reports) {
  ColumnBuilder builder(reports);
  const std::vector<std::string> keys = varying_keys(reports);
  add_keys(builder, reports, keys);
  const bool transfers = are_transfers(reports);
  if (std::ranges::find(keys, kGpusKey) == keys.end() && !transfers) {
    builder.add("GPUs", 1, [](const Report& r) { return fmt::format("{}", r.gpus); });
  }
  builder.add(transfers ? "time" : "step time", 0, [](const Report& r) { return to_text(r.step_time); });
  if (transfers) {
    builder.add("sent", 0, [](const Report& r) { return to_text(r.exchanged_per_gpu); });
    builder.add_problems();
    return builder.take();
  }
  builder.add("samples/s", 0, [](const Report& r) { return number_text(r.throughput); });
  if (builder.any([](const Report& r) { return r.speedup.has_value(); })) {
    builder.add("speed-up", 0, [](const Report& r) {
      return optional_text(r.speedup, [](double v) { return fmt::format("{:.2f}x", v); });
    });
    builder.add("efficiency", 2, [](const Report& r) { return optional_text(r.efficiency, percent_text); });
  }
  add_split(builder);
  builder.add("memory", 9, [](const Report& r) { return to_text(r.memory.footprint.total()); });
  if (builder.any([](const Report& r) { return !r.memory.fits; })) {
    builder.add(
        "fits", 0, [](const Report& r) { return std::string(r.memory.fits ? "yes" : "NO"); }, false);
  }
  builder.add("limited by", 1, limit_text, false);
  builder.add_problems();
  return builder.take();
}

}  // namespace gpuscale
