#pragma once

#include "parallel/job.hpp"

namespace gpuscale {

/// How far a step time may be off, as fractions of it.
struct Uncertainty {
  double below = 0.0;
  double above = 0.0;
};

/// The range for a kind of case, from the errors that `gpuscale validate` finds in measurements of the
/// same kind.
Uncertainty uncertainty(const Job& job);

}  // namespace gpuscale
