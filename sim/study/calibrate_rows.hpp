#pragma once

#include <string>
#include <vector>

#include "import/csv.hpp"
#include "scenario/scenario.hpp"
#include "study/calibrate.hpp"

namespace gpuscale {

/// What rows are read with: a scenario that says what they do not, and settings on top of it.
struct MeasurementBase {
  ScenarioFile file;
  std::vector<Setting> settings = {};
  bool is_usual = true;  ///< no scenario was given: one PCIe box, PyTorch
};

/// The base where no scenario is given.
MeasurementBase usual_base();

/// Measurements from a table: one row a measurement. Columns gpu, model, batch (a bare number is per GPU), precision,
/// framework, gpus, machine, nodes, fabric, optimizer and sequence, or any path of a scenario, say what ran; an empty
/// cell leaves it to the base. One column says what was measured: throughput (samples a second of the whole job) or
/// step_time (`315 ms`), or with the unit in the name throughput_samples_per_s, step_time_s, step_time_ms. Columns
/// name, note and source are texts. \throws ScenarioError with every problem, at the line and column of its cell
std::vector<Measurement> read_measurements(const CsvTable& table, const MeasurementBase& base, const Library& library);

}  // namespace gpuscale
