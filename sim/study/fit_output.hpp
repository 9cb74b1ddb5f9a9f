#pragma once

/// \file
/// Fits for people and for programs. One fit is told in full, of several each is a row.

#include <iosfwd>
#include <span>

#include "report/text_style.hpp"
#include "study/fit.hpp"

namespace gpuscale {

/// Memory by cause with bars, what is free, the largest batch, and what each change would save.
void write_text(std::ostream& out, std::span<const Fit> fits, const TextStyle& style = {});

/// The same as pipe tables.
void write_markdown(std::ostream& out, std::span<const Fit> fits);

/// One line for each job as asked, with an empty `change`, and one for each change of it. Sizes in bytes.
void write_csv(std::ostream& out, std::span<const Fit> fits);

/// One document: {schema_version, program_version, points: [{what was asked, memory, changes: [...]}]}.
void write_json(std::ostream& out, std::span<const Fit> fits);

}  // namespace gpuscale
