#pragma once

#include "parallel/step_builder.hpp"

namespace gpuscale {

/// The update of a stage's `parameters` by the processors (ZeRO-Offload, arXiv:2101.06840): gradients go down to host
/// memory, where optimizer state and master weights stay; the update moves its bytes in host memory, and the new
/// weights come back in the precision of the arithmetic. All over links that cards of a box share. One after the other.
void add_offloaded_update(StepBuilder& step, int stage, double parameters);

}  // namespace gpuscale
