#pragma once

#include "report/report.hpp"
#include "scenario/scenario.hpp"

namespace gpuscale {

/// The whole pipeline for one scenario: Scenario -> Plan -> Timeline -> Report, with the run on one GPU
/// that speed-up is measured against. \throws ScenarioError if the hardware cannot be joined up.
Report simulate(const Scenario& scenario);

}  // namespace gpuscale
