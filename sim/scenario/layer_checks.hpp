#pragma once

#include "scenario/cross_checks.hpp"

namespace gpuscale {

/// Whether the shapes of a model's layers join, and its layers, heads and experts can be divided and cut into stages as
/// the strategy asks.
void check_layers(const Scenario& scenario, Reading& reading);

}  // namespace gpuscale
