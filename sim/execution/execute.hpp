#pragma once

#include "execution/timeline.hpp"
#include "plan/plan.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// Runs a plan: each lane does one task at a time, in the order in which they became ready; transfers
/// share channels by max-min fairness; everything starts as early as its requirements allow. The only
/// code with a clock. Knows no strategy.
Timeline execute(const Plan& plan, const Topology& topology);

}  // namespace gpuscale
