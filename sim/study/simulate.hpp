#pragma once

#include "report/report.hpp"
#include "scenario/scenario.hpp"

namespace gpuscale {

/// The whole pipeline for one scenario: Scenario -> Plan -> Timeline -> Report, with the run on one GPU
/// that speed-up is measured against. \throws ScenarioError if the hardware cannot be joined up.
Report simulate(const Scenario& scenario);

/// The same without the run on one GPU: no speed-up, no efficiency. For studies that look at many variants of a job.
Report simulate_step(const Scenario& scenario);

/// The scenario with what its user measured worked in, so that its hardware may be changed afterwards: a throughput has
/// become a factor on computing, factors have become costs and rates.
Scenario calibrated(const Scenario& scenario);

}  // namespace gpuscale
