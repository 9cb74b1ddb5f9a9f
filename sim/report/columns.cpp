#include "report/columns.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <ostream>
#include <string_view>

namespace gpuscale {

namespace {

constexpr std::size_t kNarrowestWrap = 24;
constexpr std::size_t kNarrowest = 12;  // of a column whose words are broken
constexpr std::size_t kGap = 2;

std::size_t longest_cell(const TextColumn& column) {
  std::size_t width = 0;
  for (const std::string& cell : column.cells) width = std::max(width, display_width(cell));
  return width;
}

/// Of all cells, or of the title if that is wider.
std::size_t longest_word(const TextColumn& column) {
  std::size_t width = display_width(column.title);
  for (const std::string& cell : column.cells) {
    for (std::size_t start = 0; start < cell.size();) {
      const std::size_t end = std::min(cell.find(' ', start), cell.size());
      width = std::max(width, display_width(std::string_view(cell).substr(start, end - start)));
      start = end + 1;
    }
  }
  return width;
}

/// The width a column would like to have.
std::size_t wanted_width(const TextColumn& column) {
  const std::size_t title = display_width(column.title);
  if (column.wraps) return std::max(title, kNarrowestWrap);
  const std::size_t cells = longest_cell(column);
  return std::max(title, column.right ? cells : std::min(cells, std::max(column.longest, longest_word(column))));
}

/// The width at which its words still are whole and its cells not too high.
std::size_t least_width(const TextColumn& column) {
  const std::size_t wanted = wanted_width(column);
  if (column.right || column.wraps) return wanted;
  return std::min(wanted, std::max(kNarrowestWrap, longest_word(column)));
}

/// The width below which it is not put, whatever becomes of its words.
std::size_t narrowest_width(const TextColumn& column) {
  const std::size_t wanted = wanted_width(column);
  if (column.right || column.wraps) return wanted;
  return std::min(wanted, std::max(kNarrowest, display_width(column.title)));
}

std::size_t with_gaps(std::size_t cells, std::size_t columns) {
  return cells + (columns < 2 ? 0 : kGap * (columns - 1));
}

template <class Width>
std::size_t width_of(const std::vector<TextColumn>& columns, const Width& width) {
  std::size_t sum = 0;
  for (const TextColumn& column : columns) sum += width(column);
  return with_gaps(sum, columns.size());
}

/// Takes out what may go until the rest is within the width; gives what went.
std::vector<TextColumn> drop_until_within(std::vector<TextColumn>& columns, std::size_t width) {
  std::vector<TextColumn> dropped;
  while (width_of(columns, least_width) > width) {
    const auto most = std::ranges::max_element(columns, {}, &TextColumn::dispensable);
    if (most == columns.end() || most->dispensable == 0) break;
    dropped.push_back(std::move(*most));
    columns.erase(most);
  }
  return dropped;
}

/// Narrows the widest columns of words, down to where words are broken only if nothing else helps. The last column,
/// if it wraps, gets what the others leave.
std::vector<std::size_t> widths_within(const std::vector<TextColumn>& columns, std::size_t width) {
  std::vector<std::size_t> widths;
  for (const TextColumn& column : columns) widths.push_back(wanted_width(column));
  const auto total = [&] {
    return with_gaps(std::accumulate(widths.begin(), widths.end(), std::size_t{0}), widths.size());
  };
  for (const auto least : {least_width, narrowest_width}) {
    while (total() > width) {
      std::size_t widest = columns.size();
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (widths[i] > least(columns[i]) && (widest == columns.size() || widths[i] > widths[widest])) widest = i;
      }
      if (widest == columns.size()) break;
      --widths[widest];
    }
  }
  if (!columns.empty() && columns.back().wraps && total() < width) widths.back() += width - total();
  return widths;
}

/// How many bytes of a word are within a width, at its last joint if it has one there.
std::size_t broken_at(std::string_view word, std::size_t width) {
  std::size_t end = 0;
  std::size_t joint = 0;
  for (std::size_t characters = 0; end < word.size(); ++end) {
    if (starts_character(word[end]) && ++characters > width) break;
    if (std::string_view("-/,._=:").find(word[end]) != std::string_view::npos) joint = end + 1;
  }
  return joint > 0 && end < word.size() ? joint : end;
}

/// The lines of a cell. `whole`: words that are too long stay whole.
std::vector<std::string> lines_of(std::string_view cell, std::size_t width, bool whole) {
  std::vector<std::string> lines(1);
  while (!cell.empty()) {
    const std::size_t end = std::min(cell.find(' '), cell.size());
    std::string_view word = cell.substr(0, end);
    cell.remove_prefix(std::min(end + 1, cell.size()));
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width) lines.emplace_back();
    while (!whole && display_width(word) > width) {
      const std::size_t part = broken_at(word, width);
      lines.back() += word.substr(0, part);
      lines.emplace_back();
      word.remove_prefix(part);
    }
    lines.back() += (lines.back().empty() ? "" : " ") + std::string(word);
  }
  return lines;
}

/// Takes the last column out if it may stand below the rows and does not fit beside the others.
std::vector<std::string> take_below(std::vector<TextColumn>& columns, std::size_t width) {
  if (columns.empty() || !columns.back().below) return {};
  TextColumn last = std::move(columns.back());
  columns.pop_back();
  const std::size_t own = std::max(display_width(last.title), longest_cell(last));
  if (width_of(columns, wanted_width) + kGap + own > width) return std::move(last.cells);
  columns.push_back(std::move(last));
  return {};
}

void make_printable(std::vector<TextColumn>& columns) {
  for (TextColumn& column : columns) {
    column.title = printable(column.title);
    for (std::string& cell : column.cells) cell = printable(cell);
  }
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

std::vector<std::string> layout(std::vector<TextColumn> columns, std::size_t width, std::size_t indent) {
  make_printable(columns);
  width -= std::min(width, indent);
  const std::vector<std::string> below = take_below(columns, width);
  drop_until_within(columns, width);
  const std::vector<std::size_t> widths = widths_within(columns, width);
  const std::size_t rows = columns.empty() ? 0 : columns.front().cells.size();
  std::vector<std::string> result(rows + 1);
  for (std::size_t row = 0; row <= rows; ++row) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const TextColumn& column = columns[i];
      const std::string& cell = row == 0 ? column.title : column.cells[row - 1];
      cells.push_back(column.right ? std::vector{cell} : lines_of(cell, widths[i], column.wraps));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t k = 0; k < height; ++k) {
      std::string line(indent, ' ');
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string_view part = k < cells[i].size() ? cells[i][k] : std::string_view();
        line += std::string(i == 0 ? 0 : kGap, ' ') + padded(part, widths[i], columns[i].right);
      }
      result[row] += (k == 0 ? "" : "\n") + trimmed_right(std::move(line));
    }
    const bool told = row > 0 && !below.empty() && !below[row - 1].empty();
    constexpr std::size_t kBelow = 4;
    if (told) result[row] += '\n' + std::string(kBelow, ' ') + wrapped(below[row - 1], width + indent, kBelow);
  }
  return result;
}

std::string left_out_note(std::vector<TextColumn> columns, std::size_t width, std::string_view format,
                          std::size_t indent) {
  make_printable(columns);
  width -= std::min(width, indent);
  static_cast<void>(take_below(columns, width));
  const std::size_t all = indent + width_of(columns, least_width);
  std::vector<TextColumn> dropped = drop_until_within(columns, width);
  if (dropped.empty()) return {};
  std::ranges::stable_sort(dropped, {}, &TextColumn::dispensable);
  std::string titles;
  for (const TextColumn& column : dropped) titles += (titles.empty() ? "" : ", ") + column.title;
  const bool one = dropped.size() == 1;
  const std::string terminal = all <= kWidestText ? fmt::format(" or a terminal {} columns wide", all) : "";
  return fmt::format("no room for the column{} {}: --format {}{} shows {}", one ? "" : "s", titles, format, terminal,
                     one ? "it" : "them");
}

void write_left_out(std::ostream& out, const std::vector<TextColumn>& columns, std::size_t width,
                    std::string_view format, std::size_t indent) {
  constexpr std::size_t kHanging = 2;
  const std::string note = left_out_note(columns, width, format, indent);
  if (!note.empty()) out << std::string(indent, ' ') << wrapped(note, width, kHanging) << '\n';
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
