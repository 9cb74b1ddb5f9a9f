#include "study/sensitivity_output.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/columns.hpp"
#include "report/csv.hpp"
#include "report/facts.hpp"
#include "report/version.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

using Json = nlohmann::ordered_json;

/// Throughput with a figure 10 % better. What is there or not cannot be better.
std::string gain_text(const FigureEffect& effect) {
  if (!effect.scales || !effect.elasticity) return "-";
  const double percent = std::round(effect.gain() * 1000.0) / 10.0;
  return percent == 0.0 ? "no change" : fmt::format("{:+.1f} %", percent);
}

std::string loss_text(const FigureEffect& effect) {
  const std::string text = !effect.fits       ? "does not fit"
                           : effect.matters() ? fmt::format("{:.2f}x as long", effect.worse)
                                              : "no change";
  return effect.removed ? "without: " + text : text;
}

std::vector<TextColumn> columns_of(const Sensitivity& sensitivity) {
  std::vector<TextColumn> columns = {{.title = "figure", .right = false, .cells = {}},
                                     {.title = "now", .right = true, .dispensable = 1, .cells = {}},
                                     {.title = "10 % better", .cells = {}},
                                     {.title = "half as good", .cells = {}},
                                     {.title = "", .right = false, .cells = {}, .wraps = true}};
  for (const FigureEffect& effect : sensitivity.effects) {
    const std::vector<std::string> cells = {effect.name, effect.now, gain_text(effect), loss_text(effect), effect.note};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  if (std::ranges::all_of(columns.back().cells, &std::string::empty)) columns.pop_back();
  return columns;
}

constexpr std::string_view kLegend =
    "10 % better: throughput with 10 % more of the figure, or 10 % less where it is a time; half as good: step time "
    "with half of it, or twice as much where it is a time, or without it, relative to now.";

Json to_json(const FigureEffect& effect) {
  Json object = {{"figure", effect.key}, {"name", effect.name}, {"now", effect.now}};
  if (effect.elasticity) object["elasticity"] = *effect.elasticity;
  object["removed"] = effect.removed;
  object["relative_step_time_worse"] = effect.worse;
  object["fits_worse"] = effect.fits;
  object["sentence"] = effect.sentence;
  return object;
}

}  // namespace

void write_text(std::ostream& out, const Sensitivity& sensitivity, const TextStyle& style) {
  constexpr std::size_t kLabel = 12;
  out << bold(printable(sensitivity.report.scenario), style) << '\n';
  std::vector<Fact> facts = what_runs(sensitivity.report);
  facts.push_back({"step time", to_text(sensitivity.report.step_time)});
  for (const Fact& fact : facts) {
    out << "  " << padded(fact.name, kLabel) << wrapped(printable(fact.text), style.width, kLabel + 2) << '\n';
  }
  out << '\n';
  const std::vector<TextColumn> columns = columns_of(sensitivity);
  const std::vector<std::string> lines = layout(columns, style.width);
  for (std::size_t i = 0; i < lines.size(); ++i) out << (i == 0 ? bold(lines[i], style) : lines[i]) << '\n';
  out << '\n';
  write_left_out(out, columns, style.width);
  out << wrapped(sensitivity.verdict, style.width, 0) << '\n' << wrapped(kLegend, style.width, 0) << '\n';
}

void write_markdown(std::ostream& out, const Sensitivity& sensitivity) {
  out << pipe_table(columns_of(sensitivity)) << '\n' << printable(sensitivity.verdict) << "\n\n" << kLegend << '\n';
}

void write_csv(std::ostream& out, const Sensitivity& sensitivity) {
  out << "figure,name,now,elasticity,removed,relative_step_time_worse,sentence,fits_worse\n";
  for (const FigureEffect& effect : sensitivity.effects) {
    out << fmt::format("{},{},{},{},{},{},{},{}\n", effect.key, csv_cell(effect.name), csv_cell(effect.now),
                       effect.elasticity ? fmt::format("{}", *effect.elasticity) : "", effect.removed, effect.worse,
                       csv_cell(effect.sentence), effect.fits);
  }
}

void write_json(std::ostream& out, const Sensitivity& sensitivity) {
  const Report& report = sensitivity.report;
  Json figures = Json::array();
  for (const FigureEffect& effect : sensitivity.effects) figures.push_back(to_json(effect));
  const Json document = {{"schema_version", kSchemaVersion},
                         {"program_version", kProgramVersion},
                         {"scenario", report.scenario},
                         {"model", report.model},
                         {"gpu", report.gpu},
                         {"gpus", report.gpus},
                         {"step_time_s", report.step_time.count()},
                         {"verdict", sensitivity.verdict},
                         {"figures", std::move(figures)}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace gpuscale
