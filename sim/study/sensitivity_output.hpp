#pragma once

#include <iosfwd>

#include "report/text_style.hpp"
#include "study/sensitivity.hpp"

namespace gpuscale {

/// What was simulated, a table of figures with bars, a sentence each if verbose, and the verdict.
void write_text(std::ostream& out, const Sensitivity& sensitivity, const TextStyle& style = {});
void write_markdown(std::ostream& out, const Sensitivity& sensitivity);
/// One line a figure.
void write_csv(std::ostream& out, const Sensitivity& sensitivity);
/// One document: {schema_version, program_version, what was asked, step_time_s, verdict, figures: [...]}.
void write_json(std::ostream& out, const Sensitivity& sensitivity);

}  // namespace gpuscale
