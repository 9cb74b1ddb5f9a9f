#pragma once

#include <stdexcept>

#include "execution/timeline.hpp"
#include "plan/plan.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// A run would go on beyond the end of simulated time (Time::last(), 106 days).
class RunTooLong : public std::runtime_error {
 public:
  RunTooLong() : std::runtime_error("the step takes longer than 106 days, where simulated time ends") {}
};

/// Runs a plan: each lane does one task at a time, in the order in which they became ready; transfers
/// share channels by max-min fairness; everything starts as early as its requirements allow. The only
/// code with a clock. Knows no strategy. \throws RunTooLong
Timeline execute(const Plan& plan, const Topology& topology);

/// How long a plan takes.
Seconds plan_time(const Plan& plan, const Topology& topology);

}  // namespace gpuscale
