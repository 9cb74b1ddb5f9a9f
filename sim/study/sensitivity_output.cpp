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

std::string elasticity_text(const FigureEffect& effect) {
  if (!effect.elasticity) return "-";
  const double rounded = std::round(*effect.elasticity * 100.0) / 100.0;
  return fmt::format("{:.2f}", rounded == 0.0 ? 0.0 : rounded);  // no minus before nothing
}

std::vector<TextColumn> columns_of(const Sensitivity& sensitivity) {
  std::vector<TextColumn> columns = {{.title = "figure", .right = false, .cells = {}},
                                     {.title = "now", .right = true, .dispensable = 1, .cells = {}},
                                     {.title = "elasticity", .cells = {}},
                                     {.title = "worse", .cells = {}},
                                     {.title = "in words", .right = false, .cells = {}, .wraps = true}};
  for (const FigureEffect& effect : sensitivity.effects) {
    const std::vector<std::string> cells = {effect.name, effect.now, elasticity_text(effect),
                                            fmt::format("{:.2f}x", effect.worse), effect.sentence};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return columns;
}

constexpr std::string_view kLegend =
    "elasticity: percent of throughput that one percent of the figure brings; worse: step time without the "
    "figure, or with half as good a one, relative to now";

Json to_json(const FigureEffect& effect) {
  Json object = {{"figure", effect.key}, {"name", effect.name}, {"now", effect.now}};
  if (effect.elasticity) object["elasticity"] = *effect.elasticity;
  object["removed"] = effect.removed;
  object["relative_step_time_worse"] = effect.worse;
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
  const std::vector<std::string> lines = layout(columns_of(sensitivity), style.width);
  for (std::size_t i = 0; i < lines.size(); ++i) out << (i == 0 ? bold(lines[i], style) : lines[i]) << '\n';
  out << '\n' << wrapped(sensitivity.verdict, style.width, 0) << '\n' << wrapped(kLegend, style.width, 0) << '\n';
}

void write_markdown(std::ostream& out, const Sensitivity& sensitivity) {
  out << pipe_table(columns_of(sensitivity)) << '\n' << printable(sensitivity.verdict) << "\n\n" << kLegend << '\n';
}

void write_csv(std::ostream& out, const Sensitivity& sensitivity) {
  out << "figure,name,now,elasticity,removed,relative_step_time_worse,sentence\n";
  for (const FigureEffect& effect : sensitivity.effects) {
    out << fmt::format("{},{},{},{},{},{},{}\n", effect.key, csv_cell(effect.name), csv_cell(effect.now),
                       effect.elasticity ? fmt::format("{}", *effect.elasticity) : "", effect.removed, effect.worse,
                       csv_cell(effect.sentence));
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
