#pragma once

/// \file
/// Reports for people to read on a terminal, and the same tables as Markdown.

#include <iosfwd>
#include <span>

#include "report/ranking.hpp"
#include "report/report.hpp"
#include "report/text_style.hpp"

namespace gpuscale {

/// One point in full: times, where the step goes, memory by cause, busiest links, what limits it.
void write_text(std::ostream& out, const Report& report, const TextStyle& style = {});

/// Many points as aligned columns, with what is common to them above and what was swept below.
void write_text(std::ostream& out, std::span<const Report> reports, const TextStyle& style = {});

/// A comparison: places, reasons, and the verdict below.
void write_text(std::ostream& out, const Ranking& ranking, const TextStyle& style = {});

/// One point as a table of two columns.
void write_markdown(std::ostream& out, const Report& report);

/// Many points as a pipe table, one row a point.
void write_markdown(std::ostream& out, std::span<const Report> reports);

/// A comparison as a pipe table, the verdict below.
void write_markdown(std::ostream& out, const Ranking& ranking);

}  // namespace gpuscale
