#pragma once

/// \file
/// Tables as columns of finished text, laid out for a terminal or for Markdown.

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "report/text_style.hpp"

namespace gpuscale {

struct TextColumn {
  std::string title;
  bool right = true;    ///< numbers end at the same place, words begin at it
  int dispensable = 0;  ///< where the width does not suffice, the highest goes first; 0 always stays
  std::vector<std::string> cells;
  std::size_t longest = 40;  ///< words of longer cells go on below
  bool wraps = false;        ///< the last column may: it takes what width the others leave
  bool below = false;        ///< one that wraps: where it does not fit it stands below its rows, without title
};

/// The widest lines that a terminal is given.
inline constexpr std::size_t kWidestText = 240;

/// Lines of equal columns, the title first, two spaces between columns, `indent` spaces before each line. Where they
/// are not within `width`, words go on below, then columns that may go are left out, then words are broken; nothing
/// that stays is cut. A row of several lines has newlines inside.
std::vector<std::string> layout(std::vector<TextColumn> columns, std::size_t width, std::size_t indent = 0);

/// Which columns that layout leaves out and how to see them, in one sentence; empty if it leaves none out. `format` is
/// the output format that has them all.
std::string left_out_note(std::vector<TextColumn> columns, std::size_t width, std::string_view format = "csv",
                          std::size_t indent = 0);

/// That sentence on lines of its own below a table; nothing if no column is left out.
void write_left_out(std::ostream& out, const std::vector<TextColumn>& columns, std::size_t width,
                    std::string_view format = "csv", std::size_t indent = 0);

/// A Markdown pipe table of all columns; pipes and newlines inside cells are escaped.
std::string pipe_table(const std::vector<TextColumn>& columns);

}  // namespace gpuscale
