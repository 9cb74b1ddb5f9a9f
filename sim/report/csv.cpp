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

void add_titles(std::vector<std::string>& row, const std::vector<std::string>& keys) {
  row.insert(row.end(), keys.begin(), keys.end());
  for (const Field* field : fields_beside(keys)) row.emplace_back(field->column);
}

void add_values(std::vector<std::string>& row, const std::vector<std::string>& keys, const Report& report) {
  for (const std::string& key : keys) row.push_back(setting_of(report, key));
  for (const Field* field : fields_beside(keys)) row.push_back(plain_text(field->value(report)));
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos;
  if (plain && !text.starts_with(' ') && !text.ends_with(' ')) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

void write_csv(std::ostream& out, std::span<const Report> reports) {
  const std::vector<std::string> keys = setting_keys(reports);
  std::vector<std::string> titles;
  add_titles(titles, keys);
  write_row(out, titles);
  for (const Report& report : reports) {
    std::vector<std::string> row;
    add_values(row, keys, report);
    write_row(out, row);
  }
}

void write_csv(std::ostream& out, const Ranking& ranking) {
  std::vector<Report> reports;
  for (const RankedReport& entry : ranking.entries) reports.push_back(entry.report);
  const std::vector<std::string> keys = setting_keys(reports);
  std::vector<std::string> titles = {"rank", "candidate", "relative", "why"};
  add_titles(titles, keys);
  write_row(out, titles);
  for (const RankedReport& entry : ranking.entries) {
    std::vector<std::string> row = {fmt::format("{}", entry.rank), entry.name, fmt::format("{}", entry.relative),
                                    entry.why};
    add_values(row, keys, entry.report);
    write_row(out, row);
  }
}

}  // namespace gpuscale
