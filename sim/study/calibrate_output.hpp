#pragma once

#include <iosfwd>

#include "report/text_style.hpp"
#include "study/calibrate.hpp"

namespace gpuscale {

/// The measurements beside simulations before and after, mean errors, and each factor with its reason.
void write_text(std::ostream& out, const CalibrationResult& result, const TextStyle& style = {});
void write_markdown(std::ostream& out, const CalibrationResult& result);
/// One line a measurement, times in seconds, errors in percent.
void write_csv(std::ostream& out, const CalibrationResult& result);
/// One document: {schema_version, program_version, factors, tried, error_*_percent, rows}.
void write_json(std::ostream& out, const CalibrationResult& result);

}  // namespace gpuscale
