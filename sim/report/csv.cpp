#include "report/csv.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "report/fields.hpp"
#include "report/settings.hpp"

namespace gpuscale {

namespace {

void write_row(std::ostream& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) out << (i == 0 ? "" : ",") << csv_cell(cells[i]);
  out << '\n';
}

std::vector<const Field*> fields_beside(const std::vector<std::string>& keys) {
  std::vector<const Field*> fields;
  for (const Field& field : report_fields()) {
    if (std::ranges::find(keys, field.column) == keys.end()) fields.push_back(&field);
  }
  return fields;
}

/// What the columns are, for all rows of a table.
struct Columns {
  explicit Columns(std::span<const Report> reports)
      : keys(setting_keys(reports)), fields(fields_beside(keys)), problem(std::ranges::any_of(reports, is_refused)) {}

  std::vector<std::string> keys;
  std::vector<const Field*> fields;
  bool problem = false;  ///< whether there is a column for it
};

void add_titles(std::vector<std::string>& row, const Columns& columns) {
  row.insert(row.end(), columns.keys.begin(), columns.keys.end());
  for (const Field* field : columns.fields) row.emplace_back(field->column);
  if (columns.problem) row.emplace_back("problem");
}

void add_values(std::vector<std::string>& row, const Columns& columns, const Report& report) {
  for (const std::string& key : columns.keys) row.push_back(setting_of(report, key));
  for (const Field* field : columns.fields) row.push_back(plain_text(value_of(*field, report)));
  if (columns.problem) row.push_back(report.problem);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20U || c == 0x7F; }

}  // namespace

std::string csv_cell(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos && std::ranges::none_of(text, is_control);
  if (plain && !text.starts_with(' ') && !text.ends_with(' ')) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

void write_csv(std::ostream& out, std::span<const Report> reports) {
  const Columns columns(reports);
  std::vector<std::string> titles;
  add_titles(titles, columns);
  write_row(out, titles);
  for (const Report& report : reports) {
    std::vector<std::string> row;
    add_values(row, columns, report);
    write_row(out, row);
  }
}

void write_csv(std::ostream& out, const Ranking& ranking) {
  std::vector<Report> reports;
  for (const RankedReport& entry : ranking.entries) reports.push_back(entry.report);
  const Columns columns(reports);
  std::vector<std::string> titles = {"rank", "candidate", "relative", "why"};
  add_titles(titles, columns);
  write_row(out, titles);
  for (const RankedReport& entry : ranking.entries) {
    const bool placed = !is_refused(entry.report);
    std::vector<std::string> row = {placed ? fmt::format("{}", entry.rank) : "", entry.name,
                                    placed ? fmt::format("{}", entry.relative) : "", entry.why};
    add_values(row, columns, entry.report);
    write_row(out, row);
  }
}

}  // namespace gpuscale
