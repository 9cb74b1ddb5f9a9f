#pragma once

#include "scenario/cross_checks.hpp"

namespace gpuscale {

/// Whether degrees multiply to the GPU count and divide the batch, the layers, the heads and the experts, and the
/// parts of a strategy go together. Each problem names the key to change and the nearest values that work.
void check_strategy(const Scenario& scenario, const SoundParts& sound, Reading& reading);

}  // namespace gpuscale
