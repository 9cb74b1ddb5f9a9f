#pragma once

#include "scenario/cross_checks.hpp"

namespace gpuscale {

/// Whether what a strategy asks goes together with gradients sent by priority, and whether pieces by priority are asked
/// for where their sizes are given.
void check_exchange_schedule(const Scenario& scenario, const SoundParts& sound, Reading& reading);

}  // namespace gpuscale
