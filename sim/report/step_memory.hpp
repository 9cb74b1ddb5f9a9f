#pragma once

#include <vector>

#include "memory/footprint.hpp"
#include "parallel/build_plan.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// What fills each stage's GPUs in a planned step, whether the rank with least room left fits its card, and the largest
/// batch with which all would.
MemoryReport memory_report(const Job& job, const PlannedStep& step, const ClusterSpec& spec);

/// By kind of card, what its fullest rank holds.
std::vector<Footprint> memory_by_card(const Job& job, const PlannedStep& step, const ClusterSpec& spec);

}  // namespace gpuscale
