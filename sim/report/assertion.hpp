#pragma once

/// \file
/// Conditions on a report for scripts: `speedup >= 3.4`, `step_time_s < 300 ms`, `fits == true`.

#include <optional>
#include <string>
#include <string_view>

#include "report/fields.hpp"

namespace gpuscale {

enum class Comparison { less, less_equal, equal, not_equal, greater_equal, greater };

/// `field comparison value`. The value may carry a unit (`300 ms`, `11 GiB`) or be a percentage.
struct Assertion {
  std::string text;  ///< as written
  const Field* field = nullptr;
  Comparison comparison = Comparison::equal;
  double value = 0.0;  ///< in the field's base unit; 1 and 0 for true and false
};

/// Reads a condition. \throws std::invalid_argument with a text for the user.
Assertion read_assertion(std::string_view text);

/// What is wrong with the report: empty if the condition holds, else "speedup is 3.21, not >= 3.4". A
/// field that has no meaning for the report fails the condition.
std::string violation(const Assertion& assertion, const Report& report);

}  // namespace gpuscale
