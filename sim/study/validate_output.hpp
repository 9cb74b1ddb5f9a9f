#pragma once

/// \file
/// A validation as text, Markdown, CSV and JSON.

#include <iosfwd>

#include "report/text_style.hpp"
#include "study/validate.hpp"

namespace gpuscale {

/// Groups, the rows with the largest errors, why rows are not used, and what perfect scaling would score.
/// `style.verbose` names every row.
void write_text(std::ostream& out, const Validation& validation, const TextStyle& style = {});

/// The table of groups as a pipe table.
void write_markdown(std::ostream& out, const Validation& validation);

/// One row a measured row, units in the column names.
void write_csv(std::ostream& out, const Validation& validation);

/// {schema_version, program_version, groups: [...], rows: [...], unused: [...]}. A key that has no meaning
/// is left out.
void write_json(std::ostream& out, const Validation& validation);

}  // namespace gpuscale
