#pragma once

#include "parallel/job.hpp"

namespace gpuscale {

/// How far a step time may be off, as fractions of it.
struct Uncertainty {
  double below = 0.0;
  double above = 0.0;
};

/// The range for a kind of case in which eight of ten measurements of the same kind lie, from the errors that
/// `gpuscale validate` finds.
Uncertainty uncertainty(const Job& job);

}  // namespace gpuscale
