#pragma once

/// \file
/// Tables from CSV text (RFC 4180): a line of column names, then rows of as many cells.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/diagnostic.hpp"

namespace gpuscale {

struct CsvRow {
  int line = 0;  ///< where the row begins, from 1
  std::vector<std::string> cells;
  std::vector<int> starts = {};  ///< where each cell begins in its line, in bytes from 1
};

/// A table whose rows all have as many cells as it has columns. Cells are texts as written.
struct CsvTable {
  std::string file;
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;

  /// The index of a column by name.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Files above this are no table that a person keeps.
inline constexpr std::size_t kLargestTable = std::size_t{64} * 1024 * 1024;

/// Reads a table. Cells may be in quotation marks, and then hold commas, line breaks and doubled marks;
/// lines end in LF or CRLF; empty lines are passed over. \throws ScenarioError with every problem:
/// a mark that is never closed, a row of another length, a column name that is empty or comes twice.
CsvTable parse_csv(std::string_view text, const std::string& file);

/// The same for a file. \throws ScenarioError also if it cannot be read.
CsvTable read_csv(const std::filesystem::path& path);

}  // namespace gpuscale
