#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <vector>

#include "report/common.hpp"
#include "report/point_columns.hpp"
#include "report/settings.hpp"
#include "report/text.hpp"

namespace gpuscale {

namespace {

void write_head(std::ostream& out, const CommonFacts& common, const TextStyle& style) {
  if (!common.title.empty()) out << bold(wrapped(printable(common.title), style.width, 0), style) << '\n';
  if (!common.subtitle.empty()) out << wrapped(printable(common.subtitle), style.width, 0) << '\n';
  if (!common.title.empty()) out << '\n';
}

bool runs(const Report& report) { return report.memory.fits && !is_refused(report); }

}  // namespace

void write_text(std::ostream& out, std::span<const Report> reports, const TextStyle& style) {
  if (reports.empty()) {
    out << "no points\n";
    return;
  }
  const CommonFacts common = common_facts(reports);
  write_head(out, common, style);
  const std::vector<TextColumn> columns = point_columns(reports);
  const std::vector<std::string> lines = layout(columns, style.width);
  out << bold(lines.front(), style) << '\n';
  for (std::size_t i = 0; i < reports.size(); ++i) {
    out << (runs(reports[i]) ? lines[i + 1] : red(lines[i + 1], style)) << '\n';
  }
  out << '\n';
  write_left_out(out, columns, style.width);
  for (const std::string& note : common.notes) out << wrapped(printable(note), style.width, 2) << '\n';
}

void write_text(std::ostream& out, const Ranking& ranking, const TextStyle& style) {
  if (ranking.entries.empty()) {
    out << "nothing to rank\n";
    return;
  }
  std::vector<Report> reports;
  for (const RankedReport& entry : ranking.entries) reports.push_back(entry.report);
  write_head(out, common_facts(reports), style);
  const std::vector<TextColumn> columns = ranking_columns(ranking);
  const std::vector<std::string> lines = layout(columns, style.width);
  out << bold(lines.front(), style) << '\n';
  for (std::size_t i = 0; i < ranking.entries.size(); ++i) {
    out << (runs(ranking.entries[i].report) ? lines[i + 1] : red(lines[i + 1], style)) << '\n';
  }
  out << '\n';
  write_left_out(out, columns, style.width);
  out << wrapped(printable(ranking.verdict), style.width, 0) << '\n';
  for (const std::string& note : ranking.notes) out << wrapped(printable(note), style.width, 2) << '\n';
}

}  // namespace gpuscale
