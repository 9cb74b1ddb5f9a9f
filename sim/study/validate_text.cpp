#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <ostream>
#include <string_view>

#include "study/validate_output.hpp"
#include "study/validate_tables.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kWorstRows = 10;
constexpr std::size_t kIndent = 7;

void write_table(std::ostream& out, std::string_view title, const std::vector<TextColumn>& columns,
                 const TextStyle& style) {
  if (columns.empty() || columns.front().cells.empty()) return;
  if (!title.empty()) out << '\n' << title << '\n';
  const std::vector<std::string> lines = layout(columns, style.width);
  for (std::size_t i = 0; i < lines.size(); ++i) out << (i == 0 ? bold(lines[i], style) : lines[i]) << '\n';
  write_left_out(out, columns, style.width, "md");
}

void write_unused(std::ostream& out, const Validation& validation, const TextStyle& style) {
  const std::vector<Unused> unused = unused_of(validation.rows);
  if (unused.empty()) return;
  out << "\nNot used:\n";
  for (const Unused& entry : unused) {
    const std::string reason = fmt::format("{}: {}", entry.source, printable(entry.reason));
    out << fmt::format("{:>5}  {}\n", entry.rows, wrapped(reason, style.width, kIndent));
    if (!style.verbose) continue;
    std::string ids;
    for (const RowResult& row : validation.rows) {
      if (!row.used && row.source == entry.source && row.reason == entry.reason) ids += row.id + ' ';
    }
    out << std::string(kIndent, ' ') << dim(wrapped(printable(ids), style.width, kIndent), style) << '\n';
  }
}

/// Over all rows that have a speed-up.
void write_linear(std::ostream& out, const Validation& validation, const TextStyle& style) {
  double ours = 0;
  double linear = 0;
  std::size_t count = 0;
  for (const RowResult& row : validation.rows) {
    if (!row.used || row.is_gain || !row.efficiency_error()) continue;
    ours += std::abs(*row.efficiency_error());
    linear += std::abs(*row.linear_error());
    ++count;
  }
  if (count == 0) return;
  const auto rows = static_cast<double>(count);
  const std::string text = fmt::format(
      "speed-up/N: the mean absolute error over {} rows on several GPUs is {:.3f}; perfect linear scaling, a "
      "speed-up of N on N GPUs, would score {:.3f}.",
      count, ours / rows, linear / rows);
  out << '\n' << wrapped(text, style.width, 0) << '\n';
}

}  // namespace

void write_text(std::ostream& out, const Validation& validation, const TextStyle& style) {
  if (validation.rows.empty()) {
    out << "no rows\n";
    return;
  }
  write_table(out, "", group_columns(not_by_order(validation.groups)), style);
  write_table(out, "Orders of strategies least like the measured ones:",
              group_columns(worst_orders(validation.groups, kWorstRows)), style);
  write_table(out, "Largest errors of time:", row_columns(worst_times(validation.rows, kWorstRows)), style);
  write_table(out, "Largest errors of memory:", row_columns(worst_memories(validation.rows, kWorstRows)), style);
  write_table(out, "Largest errors of speed-up/N:", row_columns(worst_efficiencies(validation.rows, kWorstRows)),
              style);
  if (style.verbose) {
    std::vector<RowResult> used;
    std::ranges::copy_if(validation.rows, std::back_inserter(used), &RowResult::used);
    write_table(out, "All used rows:", row_columns(used), style);
  }
  write_unused(out, validation, style);
  write_linear(out, validation, style);
}

void write_markdown(std::ostream& out, const Validation& validation) {
  out << pipe_table(group_columns(not_by_order(validation.groups)));
}

}  // namespace gpuscale
