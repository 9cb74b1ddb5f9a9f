#pragma once

/// \file
/// Tables as columns of finished text, laid out for a terminal or for Markdown.

#include <string>
#include <vector>

#include "report/text_style.hpp"

namespace gpuscale {

struct TextColumn {
  std::string title;
  bool right = true;    ///< numbers end at the same place, words begin at it
  int dispensable = 0;  ///< where the width does not suffice, the highest goes first; 0 always stays
  std::vector<std::string> cells;
  std::size_t longest = 40;  ///< longer cells are cut
  bool wraps = false;        ///< the last column may: instead of being cut, it continues on lines of its own
  bool below = false;        ///< one that wraps: where it does not fit it stands below its rows, without title
};

/// Lines of equal columns, the title first, two spaces between columns. Columns that may go are left out
/// until the lines are within `width`; if that does not suffice, words are cut. A row with a wrapped cell has newlines
/// inside.
std::vector<std::string> layout(std::vector<TextColumn> columns, std::size_t width);

/// A Markdown pipe table of all columns; pipes and newlines inside cells are escaped.
std::string pipe_table(const std::vector<TextColumn>& columns);

}  // namespace gpuscale
