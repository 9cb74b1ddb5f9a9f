#pragma once

#include "hardware/gpu.hpp"
#include "memory/footprint.hpp"
#include "parallel/build_plan.hpp"

namespace gpuscale {

/// What fills each stage's GPUs in a planned step, whether the fullest fits its card, and the largest batch that
/// would.
MemoryReport memory_report(const Job& job, const PlannedStep& step, const Gpu& gpu);

}  // namespace gpuscale
