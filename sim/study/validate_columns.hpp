#pragma once

/// \file
/// The columns a rule speaks of.

#include <string_view>
#include <vector>

#include "import/csv.hpp"
#include "scenario/validation_rule.hpp"

namespace gpuscale {

/// Every table of measurements names its rows here.
inline constexpr std::string_view kIdColumn = "id";

/// A piece of a text with {column} in it.
struct TextPart {
  std::string_view text;  ///< as it stands, or the name of the column
  bool is_column = false;
};

/// `{name}` with letters, digits and _ is a column; other braces stand for themselves.
std::vector<TextPart> parts_of(std::string_view text);

/// \throws ScenarioError with every column that neither the table nor the rule has
void check_columns(const ValidationRule& rule, const CsvTable& table);

}  // namespace gpuscale
