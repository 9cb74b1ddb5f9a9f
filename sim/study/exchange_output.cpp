#include "study/exchange_output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/columns.hpp"
#include "report/csv.hpp"
#include "report/fields.hpp"
#include "report/version.hpp"

namespace gpuscale {

namespace {

using Json = nlohmann::ordered_json;

std::string gigabytes(BytesPerSecond rate) { return fmt::format("{:.2f}", rate.count() / 1e9); }

std::string microseconds(Seconds time) {
  const double value = time.count() * 1e6;
  return fmt::format("{:.{}f}", value, value < 100 ? 2 : value < 10000 ? 1 : 0);
}

bool has_protocols(const ExchangeTable& table) { return !table.rows.empty() && !table.rows.front().protocol.empty(); }

std::vector<TextColumn> columns_of(const ExchangeTable& table) {
  std::vector<TextColumn> columns;
  for (const char* title : {"size, B", "count", "type", "time, us", "algbw, GB/s", "busbw, GB/s"}) {
    columns.push_back({.title = title, .cells = {}});
  }
  columns.push_back({.title = "algorithm", .right = false, .cells = {}});
  if (has_protocols(table)) columns.push_back({.title = "protocol", .right = false, .cells = {}});
  for (const ExchangeRow& row : table.rows) {
    const std::vector<std::string> cells = {fmt::format("{:.0f}", row.size.count()),
                                            fmt::format("{:.0f}", row.count),
                                            "float",
                                            microseconds(row.time),
                                            gigabytes(row.algorithm_bandwidth),
                                            gigabytes(row.bus_bandwidth),
                                            row.algorithm,
                                            row.protocol};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return columns;
}

std::string title_of(const ExchangeTable& table) {
  std::string text =
      fmt::format("{} over {} {} {} in {}{}, as {} does it", name(table.what), table.ranks, table.unlike ? "of" : "x",
                  table.gpu, table.nodes == 1 ? "" : fmt::format("{} x ", table.nodes), table.machine, table.transport);
  if (table.codec != "none") text += fmt::format(", codec {}", table.codec);
  return text;
}

std::string average_text(const ExchangeTable& table) {
  return fmt::format("average bus bandwidth {} GB/s", gigabytes(table.average_bus_bandwidth()));
}

/// The keys of a row, which are also the columns of the CSV.
Json to_json(const ExchangeRow& row) {
  Json object = {{"size_bytes", row.size.count()},
                 {"count", row.count},
                 {"type", "float"},
                 {"time_s", row.time.count()},
                 {"algorithm_bandwidth_bytes_per_s", row.algorithm_bandwidth.count()},
                 {"bus_bandwidth_bytes_per_s", row.bus_bandwidth.count()},
                 {"algorithm", row.algorithm}};
  if (!row.protocol.empty()) object["protocol"] = row.protocol;
  return object;
}

FieldValue field(const Json& value) {
  return value.is_number() ? FieldValue(value.get<double>()) : FieldValue(value.get<std::string>());
}

}  // namespace

void write_text(std::ostream& out, const ExchangeTable& table, const TextStyle& style) {
  out << bold(title_of(table), style) << "\n\n";
  const std::vector<std::string> lines = layout(columns_of(table), style.width);
  for (std::size_t i = 0; i < lines.size(); ++i) out << (i == 0 ? bold(lines[i], style) : lines[i]) << '\n';
  out << '\n' << average_text(table) << '\n';
}

void write_markdown(std::ostream& out, const ExchangeTable& table) {
  out << title_of(table) << "\n\n" << pipe_table(columns_of(table)) << '\n' << average_text(table) << '\n';
}

void write_csv(std::ostream& out, const ExchangeTable& table) {
  bool head = true;
  for (const ExchangeRow& row : table.rows) {
    const Json object = to_json(row);
    std::string names;
    std::string values;
    for (const auto& [key, value] : object.items()) {
      names += (names.empty() ? "" : ",") + key;
      values += (values.empty() ? "" : ",") + csv_cell(plain_text(field(value)));
    }
    if (head) out << names << '\n';
    head = false;
    out << values << '\n';
  }
}

void write_json(std::ostream& out, const ExchangeTable& table) {
  Json rows = Json::array();
  for (const ExchangeRow& row : table.rows) rows.push_back(to_json(row));
  const Json document = {{"schema_version", kSchemaVersion},
                         {"program_version", kProgramVersion},
                         {"collective", std::string(name(table.what))},
                         {"machine", table.machine},
                         {"gpu", table.gpu},
                         {"transport", table.transport},
                         {"codec", table.codec},
                         {"nodes", table.nodes},
                         {"ranks", table.ranks},
                         {"rows", std::move(rows)},
                         {"average_bus_bandwidth_bytes_per_s", table.average_bus_bandwidth().count()},
                         {"provenance", table.provenance}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace gpuscale
