#include "report/columns.hpp"

#include <algorithm>
#include <numeric>

namespace gpuscale {

namespace {

constexpr std::size_t kNarrowestWrap = 24;
constexpr std::size_t kGap = 2;

std::size_t width_of(const TextColumn& column) {
  std::size_t width = display_width(column.title);
  if (column.wraps) return std::max(width, kNarrowestWrap);
  for (const std::string& cell : column.cells) width = std::max(width, display_width(cell));
  return width;
}

std::size_t width_of(const std::vector<TextColumn>& columns) {
  const std::size_t cells = std::accumulate(columns.begin(), columns.end(), std::size_t{0},
                                            [](std::size_t sum, const TextColumn& c) { return sum + width_of(c); });
  return cells + (columns.empty() ? 0 : kGap * (columns.size() - 1));
}

void drop_until_within(std::vector<TextColumn>& columns, std::size_t width) {
  while (width_of(columns) > width) {
    const auto most = std::ranges::max_element(columns, {}, &TextColumn::dispensable);
    if (most == columns.end() || most->dispensable == 0) return;
    columns.erase(most);
  }
}

void shorten_until_within(std::vector<TextColumn>& columns, std::size_t width) {
  constexpr std::size_t kShortest = 12;
  for (std::size_t longest = 36; longest >= kShortest && width_of(columns) > width; longest -= 4) {
    for (TextColumn& column : columns) {
      if (column.right || column.wraps) continue;  // numbers are not cut
      for (std::string& cell : column.cells) cell = shortened(cell, longest);
    }
  }
}

/// The last column gets what the others leave, its further lines below its first.
void wrap_last(std::vector<TextColumn>& columns, std::size_t width) {
  TextColumn& last = columns.back();
  const std::size_t indent = width_of(columns) - width_of(last);
  for (std::string& cell : last.cells) cell = wrapped(cell, std::max(width, indent + kNarrowestWrap), indent);
}

/// Takes the last column out if it may stand below the rows and does not fit beside the others.
std::vector<std::string> take_below(std::vector<TextColumn>& columns, std::size_t width) {
  if (columns.empty() || !columns.back().below) return {};
  TextColumn whole = columns.back();
  whole.wraps = false;
  columns.pop_back();
  if (width_of(columns) + kGap + width_of(whole) > width) return std::move(whole.cells);
  whole.wraps = true;
  columns.push_back(std::move(whole));
  return {};
}

std::string trimmed_right(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string pipe_cell(const std::string& text) {
  std::string cell;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\') cell += '\\';
    cell += c;
  }
  return cell;
}

}  // namespace

std::vector<std::string> layout(std::vector<TextColumn> columns, std::size_t width) {
  for (TextColumn& column : columns) {
    column.title = printable(column.title);
    for (std::string& cell : column.cells) {
      cell = column.wraps ? printable(cell) : shortened(printable(cell), column.longest);
    }
  }
  const std::vector<std::string> below = take_below(columns, width);
  drop_until_within(columns, width);
  shorten_until_within(columns, width);
  std::vector<std::size_t> widths;
  for (const TextColumn& column : columns) widths.push_back(width_of(column));
  if (!columns.empty() && columns.back().wraps) wrap_last(columns, width);
  const std::size_t rows = columns.empty() ? 0 : columns.front().cells.size();
  std::vector<std::string> lines(rows + 1);
  for (std::size_t row = 0; row <= rows; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& cell = row == 0 ? columns[i].title : columns[i].cells[row - 1];
      lines[row] +=
          std::string(i == 0 ? 0 : kGap, ' ') + (columns[i].wraps ? cell : padded(cell, widths[i], columns[i].right));
    }
    lines[row] = trimmed_right(std::move(lines[row]));
    const bool told = row > 0 && !below.empty() && !below[row - 1].empty();
    constexpr std::size_t kIndent = 4;
    if (told) lines[row] += '\n' + std::string(kIndent, ' ') + wrapped(below[row - 1], width, kIndent);
  }
  return lines;
}

std::string pipe_table(const std::vector<TextColumn>& columns) {
  std::string titles;
  std::string rules;
  for (const TextColumn& column : columns) {
    titles += "| " + pipe_cell(column.title) + ' ';
    rules += column.right ? "|---:" : "|---";
  }
  std::string table = titles + "|\n" + rules + "|\n";
  const std::size_t rows = columns.empty() ? 0 : columns.front().cells.size();
  for (std::size_t row = 0; row < rows; ++row) {
    for (const TextColumn& column : columns) table += "| " + pipe_cell(column.cells[row]) + ' ';
    table += "|\n";
  }
  return table;
}

}  // namespace gpuscale
