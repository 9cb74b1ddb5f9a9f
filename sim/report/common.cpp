#include "report/common.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "report/point_columns.hpp"
#include "report/settings.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

/// The value all reports with figures share, or "".
std::string shared(std::span<const Report> reports, std::string Report::*value) {
  const auto first = std::ranges::find_if_not(reports, is_refused);
  if (first == reports.end()) return reports.front().*value;
  const bool same = std::ranges::all_of(
      reports, [&](const Report& report) { return is_refused(report) || report.*value == (*first).*value; });
  return same ? (*first).*value : std::string();
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : std::string(separator)) + part;
  }
  return text;
}

std::string values_text(std::vector<std::string> values) {
  constexpr std::size_t kFew = 8;
  const std::size_t count = values.size();
  if (count > kFew) {
    const std::string last = values.back();
    values.resize(kFew - 2);
    values.push_back(fmt::format("... {} ({} values)", last, count));
  }
  return joined(values, ", ");
}

std::string swept_text(std::span<const Report> reports) {
  std::string swept;
  std::string set;
  for (const std::string& key : setting_keys(reports)) {
    const std::vector<std::string> values = setting_values(reports, key);
    std::string& text = values.size() > 1 ? swept : set;
    text += fmt::format("{}{} = {}", text.empty() ? "" : "; ", key, values_text(values));
  }
  std::string text = fmt::format("{} point{}", reports.size(), reports.size() == 1 ? "" : "s");
  if (!swept.empty()) text += " over " + swept;
  if (!set.empty()) text += " (set: " + set + ")";
  return text;
}

bool fits(const Report& report) { return report.memory.fits && !is_refused(report); }

std::string baseline_text(std::span<const Report> reports) {
  const bool any = std::ranges::any_of(reports, [](const Report& report) { return report.speedup.has_value(); });
  if (!any) return {};
  const std::string baseline = shared(reports, &Report::baseline);
  if (!baseline.empty()) return "speed-up against " + baseline;
  const bool unlike = std::ranges::any_of(reports, [](const Report& report) { return report.unlike_gpus; });
  return unlike ? "speed-up against one GPU, the fastest kind of each point, at the same settings; efficiency against "
                  "all GPUs alone"
                : "speed-up against one GPU of the same kind at the same settings";
}

}  // namespace

CommonFacts common_facts(std::span<const Report> reports) {
  CommonFacts facts;
  facts.title = shared(reports, &Report::scenario);
  facts.subtitle = joined({shared(reports, &Report::model), shared(reports, &Report::gpu),
                           shared(reports, &Report::machine), shared(reports, &Report::framework)},
                          " | ");
  if (facts.title.empty()) std::swap(facts.title, facts.subtitle);
  facts.notes.push_back(swept_text(reports));
  if (const auto refused = std::ranges::count_if(reports, is_refused); refused > 0) {
    facts.notes.push_back(fmt::format("{} of them cannot run; the reason stands with each", refused));
  }
  if (std::ranges::all_of(reports, fits) && !std::ranges::all_of(reports, is_transfer)) {
    facts.notes.emplace_back("every point fits in memory");
  }
  if (std::string text = baseline_text(reports); !text.empty()) facts.notes.push_back(std::move(text));
  return facts;
}

std::vector<TextColumn> ranking_columns(const Ranking& ranking) {
  std::vector<TextColumn> columns = {{.title = "", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "name", .right = false, .dispensable = 0, .cells = {}},
                                     {.title = "step time", .right = true, .dispensable = 1, .cells = {}},
                                     {.title = "samples/s", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "of best", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "speed-up", .right = true, .dispensable = 2, .cells = {}},
                                     {.title = "why", .right = false, .dispensable = 0, .cells = {}, .wraps = true}};
  for (const RankedReport& entry : ranking.entries) {
    const Report& report = entry.report;
    if (is_refused(report)) {
      const std::array<std::string_view, 7> cells = {"-", entry.name, "-", "-", "-", "-", entry.why};
      for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.emplace_back(cells[i]);
      continue;
    }
    const std::vector<std::string> cells = {fmt::format("{}.", entry.rank),
                                            entry.name,
                                            to_text(report.step_time),
                                            number_text(report.throughput),
                                            fmt::format("{:.2f}x", entry.relative),
                                            report.speedup ? fmt::format("{:.2f}x", *report.speedup) : "-",
                                            entry.why};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return columns;
}

}  // namespace gpuscale
