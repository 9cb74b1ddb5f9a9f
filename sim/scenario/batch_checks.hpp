#pragma once

#include <cstdint>

#include "scenario/cross_checks.hpp"

namespace gpuscale {

/// Whether the samples of a step can be shared out over so many replicas, their sub-batches and microbatches. Each
/// problem names the key to change and the nearest values that work.
void check_batch(const Scenario& scenario, std::int64_t replicas, Reading& reading);

}  // namespace gpuscale
