#pragma once

#include <iosfwd>
#include <span>

#include "report/ranking.hpp"
#include "report/report.hpp"

namespace gpuscale {

/// One document: {schema_version, program_version, points: [...]}. A refused point has `problem`, what was asked
/// for and no figures. A key that has no meaning for a point
/// is left out, `layers` among them: a caller that wants short documents empties Report::layers. Doubles are in the
/// shortest form that reads back the same.
void write_json(std::ostream& out, std::span<const Report> reports);

/// The same document; a point also has `rank` and `relative` unless it was refused, `name`, `why`, and `verdict` stands
/// beside points.
void write_json(std::ostream& out, const Ranking& ranking);

}  // namespace gpuscale
