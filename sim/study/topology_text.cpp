#include <fmt/format.h>
#include <ostream>

#include "study/topology_output.hpp"
#include "study/topology_tables.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kGap = 2;

std::size_t width_of(const TextColumn& column) {
  std::size_t width = display_width(column.title);
  for (const std::string& cell : column.cells) width = std::max(width, display_width(cell));
  return width + kGap;
}

void write_table(std::ostream& out, const std::vector<TextColumn>& columns, const TextStyle& style) {
  const std::vector<std::string> lines = layout(columns, style.width, kGap);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out << (i == 0 ? bold(lines[i], style) : lines[i]) << '\n';
  }
}

/// A matrix that is too wide in blocks of columns, the names of its rows before each.
void write_matrix(std::ostream& out, const std::vector<TextColumn>& columns, const TextStyle& style) {
  for (std::size_t next = 1; next < columns.size();) {
    if (next > 1) out << '\n';
    std::vector<TextColumn> block{columns.front()};
    std::size_t width = width_of(columns.front()) + kGap;
    do {
      width += width_of(columns[next]);
      block.push_back(columns[next++]);
    } while (next < columns.size() && width + width_of(columns[next]) <= style.width);
    write_table(out, block, style);
  }
}

}  // namespace

void write_text(std::ostream& out, const TopologyReport& report, const TextStyle& style) {
  const std::vector<std::string> head = topology_head(report);
  out << bold(head.front(), style) << '\n';
  for (std::size_t i = 1; i < head.size(); ++i) out << "  " << head[i] << '\n';
  for (const TopologySection& section : topology_sections(report, style.verbose || report.gpus.size() <= kMatrixGpus)) {
    out << '\n' << bold(section.title, style) << '\n';
    if (section.is_matrix) {
      write_matrix(out, section.columns, style);
    } else {
      write_table(out, section.columns, style);
    }
    for (const std::string& note : section.notes) {
      out << "  " << dim(wrapped(note, style.width, kGap), style) << '\n';
    }
  }
}

void write_markdown(std::ostream& out, const TopologyReport& report, bool verbose) {
  const std::vector<std::string> head = topology_head(report);
  out << "# " << head.front() << "\n\n";
  for (std::size_t i = 1; i < head.size(); ++i) out << "- " << head[i] << '\n';
  for (const TopologySection& section : topology_sections(report, verbose || report.gpus.size() <= kMatrixGpus)) {
    out << "\n## " << section.title << "\n\n" << pipe_table(section.columns);
    if (!section.notes.empty()) out << '\n';
    for (const std::string& note : section.notes) out << "- " << note << '\n';
  }
}

}  // namespace gpuscale
