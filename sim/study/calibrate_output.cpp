#include "study/calibrate_output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/columns.hpp"
#include "report/csv.hpp"
#include "report/version.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

using Json = nlohmann::ordered_json;

double error_percent(Seconds simulated, Seconds measured) { return 100.0 * (simulated / measured - 1.0); }

std::string signed_percent(Seconds simulated, Seconds measured) {
  return fmt::format("{:+.1f} %", error_percent(simulated, measured));
}

std::vector<TextColumn> row_columns(const CalibrationResult& result) {
  std::vector<TextColumn> columns = {{.title = "measurement", .right = false, .cells = {}}};
  for (const char* title : {"measured", "before", "after", "error before", "after", "left out"}) {
    columns.push_back({.title = title, .cells = {}});
  }
  for (const CalibrationRow& row : result.rows) {
    const std::vector<std::string> cells = {row.name,
                                            to_text(row.measured),
                                            to_text(row.before),
                                            to_text(row.after),
                                            signed_percent(row.before, row.measured),
                                            signed_percent(row.after, row.measured),
                                            signed_percent(row.left_out, row.measured)};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return columns;
}

std::vector<TextColumn> factor_columns(const CalibrationResult& result) {
  std::vector<TextColumn> columns = {{.title = "factor on", .right = false, .cells = {}},
                                     {.title = "is", .cells = {}},
                                     {.title = "because", .right = false, .cells = {}, .longest = 90}};
  for (const FactorReport& tried : result.tried) {
    columns[0].cells.push_back(tried.name);
    columns[1].cells.push_back(fmt::format("{:.3f}", tried.factor.value_or(1.0)));
    columns[2].cells.push_back(tried.why);
  }
  return columns;
}

std::string errors_text(const CalibrationResult& result) {
  if (result.factors == Calibration{}) {
    return fmt::format(
        "mean error of the step time: {:.1f} %; no factor brings it down, so use the data files as they are",
        100 * result.error_before);
  }
  return fmt::format("mean error of the step time: {:.1f} % before, {:.1f} % after, {:.1f} % of a measurement left out",
                     100 * result.error_before, 100 * result.error_after, 100 * result.error_left_out);
}

Json to_json(const CalibrationRow& row) {
  return {{"name", row.name},
          {"measured_s", row.measured.count()},
          {"before_s", row.before.count()},
          {"after_s", row.after.count()},
          {"left_out_s", row.left_out.count()},
          {"error_before_percent", error_percent(row.before, row.measured)},
          {"error_after_percent", error_percent(row.after, row.measured)},
          {"error_left_out_percent", error_percent(row.left_out, row.measured)}};
}

}  // namespace

void write_text(std::ostream& out, const CalibrationResult& result, const TextStyle& style) {
  const auto table = [&](const std::vector<TextColumn>& columns) {
    const std::vector<std::string> lines = layout(columns, style.width);
    for (std::size_t i = 0; i < lines.size(); ++i) out << (i == 0 ? bold(lines[i], style) : lines[i]) << '\n';
  };
  table(row_columns(result));
  out << '\n' << wrapped(errors_text(result), style.width, 0) << "\n\n";
  table(factor_columns(result));
}

void write_markdown(std::ostream& out, const CalibrationResult& result) {
  out << pipe_table(row_columns(result)) << '\n' << errors_text(result) << "\n\n" << pipe_table(factor_columns(result));
}

void write_csv(std::ostream& out, const CalibrationResult& result) {
  bool first = true;
  for (const CalibrationRow& row : result.rows) {
    const Json object = to_json(row);
    std::string names;
    std::string values;
    for (const auto& [key, value] : object.items()) {
      const std::string text = value.is_string() ? value.get<std::string>() : fmt::format("{}", value.get<double>());
      names += (names.empty() ? "" : ",") + key;
      values += (values.empty() ? "" : ",") + csv_cell(text);
    }
    if (first) out << names << '\n';
    first = false;
    out << values << '\n';
  }
}

void write_json(std::ostream& out, const CalibrationResult& result) {
  Json tried = Json::array();
  for (const FactorReport& factor : result.tried) {
    tried.push_back({{"name", factor.name},
                     {"factor", factor.factor.value_or(1.0)},
                     {"fitted", factor.factor.has_value()},
                     {"why", factor.why}});
  }
  Json rows = Json::array();
  for (const CalibrationRow& row : result.rows) rows.push_back(to_json(row));
  const Json document = {{"schema_version", kSchemaVersion},
                         {"program_version", kProgramVersion},
                         {"factors",
                          {{"products", result.factors.products},
                           {"streams", result.factors.streams},
                           {"host", result.factors.host},
                           {"exchange", result.factors.exchange}}},
                         {"tried", std::move(tried)},
                         {"error_before_percent", 100 * result.error_before},
                         {"error_after_percent", 100 * result.error_after},
                         {"error_left_out_percent", 100 * result.error_left_out},
                         {"rows", std::move(rows)}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace gpuscale
