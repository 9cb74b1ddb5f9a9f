#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <vector>

#include "report/csv.hpp"
#include "report/field_json.hpp"
#include "report/fields.hpp"
#include "report/settings.hpp"
#include "report/version.hpp"
#include "study/fit_output.hpp"
#include "study/fit_tables.hpp"

namespace gpuscale {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMemory = "memory.";

/// What a fit says of a report: what was asked for, and memory.
bool is_told(const Field& field) {
  return field.asked || field.path.starts_with(kMemory) || field.path == "batch_per_gpu" ||
         field.path == "global_batch";
}

Json memory_of(const Report& report) {
  Json memory = Json::object();
  for (const Field& field : report_fields()) {
    if (field.path.starts_with(kMemory)) {
      memory[std::string(field.path.substr(kMemory.size()))] = field_json(value_of(field, report));
    }
  }
  return memory;
}

/// Each pipeline stage as if it were the fullest.
Json stages_of(const Report& report) {
  Json stages = Json::array();
  Report stage = report;
  for (const Footprint& footprint : report.memory.stages) {
    stage.memory.footprint = footprint;
    stage.memory.fits = footprint.total() <= report.memory.capacity;
    Json memory = memory_of(stage);
    memory.erase("largest_batch_per_gpu");
    stages.push_back(std::move(memory));
  }
  return stages;
}

Json settings_of(const std::vector<Setting>& settings) {
  Json object = Json::object();
  for (const Setting& setting : settings) object[setting.path] = setting_json(setting.value);
  return object;
}

Json to_json(const MemoryChange& change, const Report& before) {
  return {{"change", change.what},
          {"settings", settings_of(change.settings)},
          {"options", as_options(change.settings)},
          {"saves_bytes", std::llround(change.saves(before).count())},
          {"relative_throughput", change.report.throughput / before.throughput},
          {"memory", memory_of(change.report)}};
}

Json to_json(const Fit& fit) {
  Json point = Json::object();
  for (const Field& field : report_fields()) {
    if (is_told(field) && !field.path.starts_with(kMemory) && (field.asked || !is_refused(fit.report))) {
      point[std::string(field.path)] = field_json(value_of(field, fit.report));
    }
    if (field.path == "scenario") {
      point["settings"] = Json::object();
      for (const auto& [key, value] : fit.report.settings) point["settings"][key] = setting_json(value);
    }
  }
  if (is_refused(fit.report)) {
    point["problem"] = fit.report.problem;
    return point;
  }
  point["memory"] = memory_of(fit.report);
  if (fit.report.memory.stages.size() > 1) point["stages"] = stages_of(fit.report);
  point["changes"] = Json::array();
  for (const MemoryChange& change : fit.changes) point["changes"].push_back(to_json(change, fit.report));
  const MemoryChange* way = fit.report.memory.fits ? nullptr : best_way_to_fit(fit);
  if (way != nullptr) {
    point["fits_with"] = way->what;
    point["fits_with_options"] = as_options(way->settings);
  }
  return point;
}

void write_row(std::ostream& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) out << (i == 0 ? "" : ",") << csv_cell(cells[i]);
  out << '\n';
}

/// A line of the table: a job, or one of its changes.
void write_row(std::ostream& out, const std::vector<std::string>& keys, const Report& asked, const Report& report,
               const MemoryChange* change) {
  std::vector<std::string> cells;
  for (const std::string& key : keys) cells.push_back(setting_of(asked, key));
  cells.push_back(change == nullptr ? "" : change->what);
  cells.push_back(change == nullptr ? "" : as_options(change->settings));
  cells.push_back(is_refused(asked) ? "" : plain_text(FieldValue(report.throughput / asked.throughput)));
  for (const Field& field : report_fields()) {
    if (is_told(field)) cells.push_back(plain_text(value_of(field, report)));
  }
  cells.push_back(asked.problem);
  write_row(out, cells);
}

}  // namespace

void write_csv(std::ostream& out, std::span<const Fit> fits) {
  std::vector<Report> reports;
  for (const Fit& fit : fits) reports.push_back(fit.report);
  const std::vector<std::string> keys = setting_keys(reports);
  std::vector<std::string> titles = keys;
  for (const char* title : {"change", "change_options", "relative_throughput"}) titles.emplace_back(title);
  for (const Field& field : report_fields()) {
    if (is_told(field)) titles.emplace_back(field.column);
  }
  titles.emplace_back("problem");
  write_row(out, titles);
  for (const Fit& fit : fits) {
    write_row(out, keys, fit.report, fit.report, nullptr);
    for (const MemoryChange& change : fit.changes) write_row(out, keys, fit.report, change.report, &change);
  }
}

void write_json(std::ostream& out, std::span<const Fit> fits) {
  Json points = Json::array();
  for (const Fit& fit : fits) points.push_back(to_json(fit));
  const Json document = {
      {"schema_version", kSchemaVersion}, {"program_version", kProgramVersion}, {"points", std::move(points)}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace gpuscale
