#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/csv.hpp"
#include "report/version.hpp"
#include "study/validate_output.hpp"
#include "study/validate_tables.hpp"

namespace gpuscale {

namespace {

using Json = nlohmann::ordered_json;

void put(Json& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = *value;
}

void put(Json& object, const char* key, const std::optional<Seconds>& value) {
  if (value) object[key] = value->count();
}

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

Json to_json(const GroupResult& group) {
  Json object = {{"by", group.by}, {"name", group.name}, {"rows", group.rows}, {"used", group.used}};
  put(object, "time_mape", group.time_mape);
  put(object, "time_median_ape", group.time_median_ape);
  put(object, "bus_bandwidth_mape", group.bus_bandwidth_mape);
  put(object, "ratio_mape", group.ratio_mape);
  put(object, "efficiency_mae", group.efficiency_mae);
  put(object, "linear_efficiency_mae", group.linear_efficiency_mae);
  put(object, "memory_mape", group.memory_mape);
  put(object, "kendall_tau", group.kendall_tau);
  put(object, "bias", group.bias);
  put(object, "baseline_mape", group.baseline_mape);
  return object;
}

std::optional<double> percent(const std::optional<double>& fraction) {
  return fraction ? std::optional(100.0 * *fraction) : std::nullopt;
}

/// The keys of a row, which are also the columns of the CSV.
Json to_json(const RowResult& row) {
  Json object = {{"id", row.id}, {"source", row.source}};
  put(object, "family", row.family);
  put(object, "class", row.class_name);
  put(object, "machine", row.machine);
  put(object, "what", row.what);
  if (row.gpus > 0) object["gpus"] = row.gpus;
  object["used"] = row.used;
  put(object, "reason", row.reason);
  put(object, "time_s", row.time);
  put(object, "time_measured_s", row.time_measured);
  put(object, "time_error_percent", percent(row.time_error()));
  put(object, "time_baseline_s", row.time_baseline);
  put(object, row.memory_in_percent ? "memory_percent" : "memory_bytes", row.memory);
  put(object, row.memory_in_percent ? "memory_measured_percent" : "memory_measured_bytes", row.memory_measured);
  put(object, "memory_error_percent", percent(row.memory_error()));
  put(object, "bus_bandwidth_bytes_per_s", row.bus_bandwidth);
  put(object, "bus_bandwidth_measured_bytes_per_s", row.bus_bandwidth_measured);
  put(object, "speedup", row.speedup);
  put(object, "speedup_measured", row.speedup_measured);
  put(object, "efficiency", row.efficiency());
  put(object, "efficiency_measured", row.efficiency_measured());
  put(object, "efficiency_error", row.efficiency_error());
  return object;
}

constexpr const char* kRowKeys[] = {"id",
                                    "source",
                                    "family",
                                    "class",
                                    "machine",
                                    "what",
                                    "gpus",
                                    "used",
                                    "reason",
                                    "time_s",
                                    "time_measured_s",
                                    "time_error_percent",
                                    "time_baseline_s",
                                    "memory_bytes",
                                    "memory_measured_bytes",
                                    "memory_percent",
                                    "memory_measured_percent",
                                    "memory_error_percent",
                                    "bus_bandwidth_bytes_per_s",
                                    "bus_bandwidth_measured_bytes_per_s",
                                    "speedup",
                                    "speedup_measured",
                                    "efficiency",
                                    "efficiency_measured",
                                    "efficiency_error"};

std::string cell_of(const Json& row, const char* key) {
  const auto value = row.find(key);
  if (value == row.end()) return "";
  return value->is_string() ? csv_cell(value->get<std::string>()) : value->dump();
}

}  // namespace

void write_json(std::ostream& out, const Validation& validation) {
  Json document = {{"schema_version", kSchemaVersion}, {"program_version", kProgramVersion}};
  document["groups"] = Json::array();
  for (const GroupResult& group : validation.groups) document["groups"].push_back(to_json(group));
  document["rows"] = Json::array();
  for (const RowResult& row : validation.rows) document["rows"].push_back(to_json(row));
  document["unused"] = Json::array();
  for (const Unused& entry : unused_of(validation.rows)) {
    document["unused"].push_back({{"source", entry.source}, {"reason", entry.reason}, {"rows", entry.rows}});
  }
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void write_csv(std::ostream& out, const Validation& validation) {
  std::string titles;
  for (const char* key : kRowKeys) titles += (titles.empty() ? "" : ",") + std::string(key);
  out << titles << '\n';
  for (const RowResult& row : validation.rows) {
    const Json object = to_json(row);
    std::string line;
    for (const char* key : kRowKeys) line += (key == kRowKeys[0] ? "" : ",") + cell_of(object, key);
    out << line << '\n';
  }
}

}  // namespace gpuscale
