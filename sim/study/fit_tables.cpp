#include "study/fit_tables.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "report/facts.hpp"
#include "report/settings.hpp"
#include "report/text_style.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

TextColumn column(std::string title, bool right, int dispensable = 0) {
  return {.title = std::move(title), .right = right, .dispensable = dispensable, .cells = {}};
}

bool changes_card(const MemoryChange& change) {
  return std::ranges::find(change.settings, "cluster.gpu", &Setting::path) != change.settings.end();
}

/// What a change saves; a larger card has more room and saves nothing.
std::string saving(const MemoryChange& change, const Report& before) {
  if (changes_card(change)) return "-";
  const Bytes saved = change.saves(before);
  return fmt::format("{}, {}", to_text(saved), percent_text(saved / before.memory.footprint.total()));
}

std::string answer(const Report& report) { return report.memory.fits ? "yes" : "NO"; }

std::string largest_batch(const Report& report) { return fmt::format("{:.0f}", report.memory.largest_batch_per_gpu); }

bool needs_quotes(char c) {
  return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
         std::string_view("._-/:+").find(c) == std::string_view::npos;
}

std::vector<Report> reports_of(std::span<const Fit> fits) {
  std::vector<Report> reports;
  for (const Fit& fit : fits) reports.push_back(fit.report);
  return reports;
}

/// The largest cause of a footprint.
std::string largest_cause(const Report& report) {
  const Footprint& memory = report.memory.footprint;
  const auto most =
      std::ranges::max_element(kMemoryParts, {}, [&](const MemoryPart& part) { return memory.*part.size; });
  return fmt::format("{} {}", most->name, percent_text(memory.*most->size / memory.total()));
}

}  // namespace

std::string as_options(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    const bool quoted = std::ranges::any_of(setting.value, needs_quotes);
    const std::string_view mark = quoted ? "'" : "";
    text += fmt::format("{}--set {}={}{}{}", text.empty() ? "" : " ", setting.path, mark, setting.value, mark);
  }
  return text;
}

std::string verdict(const Report& report) {
  const MemoryReport& memory = report.memory;
  const std::string asked = fmt::format("{:.0f} asked", report.batch_per_gpu);
  if (memory.fits) {
    return fmt::format("fits: {} free, {} ({})", to_text(memory.capacity - memory.footprint.total()),
                       largest_batch_text(report), asked);
  }
  return fmt::format("does not fit: {} missing, {} ({})", to_text(memory.footprint.total() - memory.capacity),
                     largest_batch_text(report), asked);
}

std::vector<TextColumn> cause_columns(const Report& report, std::size_t room) {
  std::vector<TextColumn> columns = {column("cause", false), column("size", true), column("of the card", true)};
  if (room > 0) columns.push_back(column("", false));
  const Bytes capacity = report.memory.capacity;
  const auto add = [&](std::string_view name, const std::string& size, double share, bool barred) {
    columns[0].cells.emplace_back(name);
    columns[1].cells.push_back(size);
    columns[2].cells.push_back(percent_text(share));
    if (room > 0) columns[3].cells.push_back(barred ? share_bar(share, room) : "");
  };
  const Footprint& memory = report.memory.footprint;
  for (const MemoryPart& part : kMemoryParts) {
    const Bytes size = memory.*part.size;
    if (size.count() > 0) add(part.name, to_text(size), size / capacity, true);
  }
  const auto [needs, has] = memory_texts(report);
  add("together", needs, memory.total() / capacity, true);
  add("the card has", has, 1.0, false);
  return columns;
}

std::vector<TextColumn> stage_columns(const Report& report) {
  const std::vector<Footprint>& stages = report.memory.stages;
  std::vector<TextColumn> columns = {column("stage", true)};
  if (stages.size() < 2) return columns;
  for (std::size_t i = 0; i < stages.size(); ++i) columns[0].cells.push_back(std::to_string(i + 1));
  for (const MemoryPart& part : kMemoryParts) {
    if (std::ranges::none_of(stages, [&](const Footprint& stage) { return (stage.*part.size).count() > 0; })) continue;
    columns.push_back(column(std::string(part.name), true, static_cast<int>(columns.size())));  // the last goes first
    for (const Footprint& stage : stages) columns.back().cells.push_back(to_text(stage.*part.size));
  }
  columns.push_back(column("together", true));
  columns.push_back(column("of the card", true));
  for (const Footprint& stage : stages) {
    columns[columns.size() - 2].cells.push_back(to_text(stage.total()));
    columns.back().cells.push_back(percent_text(stage.total() / report.memory.capacity));
  }
  return columns;
}

std::vector<TextColumn> change_columns(const Fit& fit) {
  std::vector<TextColumn> columns = {column("change", false), column("memory", true),           column("saves", true),
                                     column("fits", false),   column("largest batch", true, 2), column("speed", true),
                                     column("option", false)};
  columns[0].longest = 48;
  columns[6].wraps = true;
  columns[6].below = true;
  for (const MemoryChange& change : fit.changes) {
    const std::vector<std::string> cells = {change.what,
                                            to_text(change.report.memory.footprint.total()),
                                            saving(change, fit.report),
                                            answer(change.report),
                                            largest_batch(change.report),
                                            fmt::format("{:.2f}x", change.report.throughput / fit.report.throughput),
                                            as_options(change.settings)};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return columns;
}

std::vector<TextColumn> fit_columns(std::span<const Fit> fits) {
  const std::vector<Report> reports = reports_of(fits);
  const std::vector<std::string> keys = setting_keys(reports);
  const std::vector<std::string> names = short_names(keys);
  std::vector<TextColumn> columns;
  if (std::ranges::any_of(reports, [&](const Report& r) { return r.scenario != reports.front().scenario; })) {
    columns.push_back(column("scenario", false));
    for (const Report& report : reports) columns.back().cells.push_back(report.scenario);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    columns.push_back(column(names[i], false));
    for (const Report& report : reports) columns.back().cells.push_back(setting_of(report, keys[i]));
  }
  const std::size_t first = columns.size();
  for (TextColumn& more : std::vector<TextColumn>{column("needs", true), column("has", true, 1), column("fits", false),
                                                  column("largest batch", true), column("largest cause", false, 2),
                                                  column("to make it fit", false)}) {
    columns.push_back(std::move(more));
  }
  columns.back().wraps = true;
  for (const Fit& fit : fits) {
    if (is_refused(fit.report)) {
      for (std::size_t i = first; i + 1 < columns.size(); ++i) columns[i].cells.emplace_back("-");
      columns.back().cells.push_back(fit.report.problem);
      continue;
    }
    const auto [needs, has] = memory_texts(fit.report);
    const MemoryChange* way = fit.report.memory.fits ? nullptr : best_way_to_fit(fit);
    const std::vector<std::string> cells = {needs,
                                            has,
                                            answer(fit.report),
                                            largest_batch(fit.report),
                                            largest_cause(fit.report),
                                            way != nullptr           ? way->what
                                            : fit.report.memory.fits ? "-"
                                                                     : "nothing that was tried"};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[first + i].cells.push_back(cells[i]);
  }
  return columns;
}

}  // namespace gpuscale
