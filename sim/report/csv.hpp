#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "report/ranking.hpp"
#include "report/report.hpp"

namespace gpuscale {

/// A text as a cell: in quotation marks where RFC 4180 asks for them or control characters stand inside.
std::string csv_cell(std::string_view text);

/// One row a point: a column for every key that was set or swept, then every value of a report, units in
/// the column names. Quoted as RFC 4180 asks, lines end in LF. A field whose name is a set key is left out.
/// If a point was refused, a last column `problem` says why, and that point's figures are empty.
void write_csv(std::ostream& out, std::span<const Report> reports);

/// The same with `rank`, `candidate`, `relative` and `why` in front.
void write_csv(std::ostream& out, const Ranking& ranking);

}  // namespace gpuscale
