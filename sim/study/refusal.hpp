#pragma once

#include <span>

#include "report/report.hpp"
#include "scenario/scenario.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale {

/// The report of a scenario that cannot be simulated: what was asked for, the first problem, no figures.
Report refusal(const Scenario& scenario, std::span<const Problem> problems);

}  // namespace gpuscale
