#pragma once

/// \file
/// How a measured row is held against a simulation: one function for each CheckKind.

#include "scenario/scenario.hpp"
#include "study/validate.hpp"
#include "study/validate_rows.hpp"

namespace gpuscale {

/// What the rows of one rule share.
struct CheckContext {
  const ValidationRule& rule;
  const Library& library;
  const ScenarioFile& base;  ///< an empty scenario, over which the settings of a row are written
};

/// Fills in ours and theirs, or the reason why there is nothing to compare. `result` has the identity of
/// the row already. Called from several threads.
using RowCheck = void (*)(const MeasuredRow& row, const CheckContext& context, RowResult& result);

RowCheck check_of(CheckKind kind);

}  // namespace gpuscale
