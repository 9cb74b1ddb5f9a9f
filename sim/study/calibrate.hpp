#pragma once

/// \file
/// Constants of one installation from its user's own measurements: how much slower or faster than the data files say
/// its kernels, its host and its exchanges are.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel/calibration.hpp"
#include "scenario/scenario.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// A measured step and the job it was measured on. A calibration of the scenario itself is not used.
struct Measurement {
  std::string name;
  Scenario scenario;
  Seconds step_time = {};
};

/// A measurement beside what simulations say.
struct CalibrationRow {
  std::string name;
  Seconds measured = {};
  Seconds before = {};    ///< with the data files as they are
  Seconds after = {};     ///< with the factors
  Seconds left_out = {};  ///< with factors from all other measurements
};

/// A factor and why it was or was not taken.
struct FactorReport {
  std::string name;              ///< compute, host, exchange, products, streams
  std::optional<double> factor;  ///< nothing: left at 1
  std::string why;               ///< in words
};

struct CalibrationResult {
  Calibration factors;
  std::vector<FactorReport> tried;
  std::vector<CalibrationRow> rows;
  /// Means of |simulated / measured - 1| over the rows.
  double error_before = 0.0;
  double error_after = 0.0;
  double error_left_out = 0.0;
};

/// Each factor asks for so many measurements, so that one may be left out.
inline constexpr std::size_t kMeasurementsPerFactor = 2;

/// Finds factors by least squares of log(simulated / measured): one for all computing, one for the host, one for
/// exchanges, and one each for products and streams. Each is taken where there are enough measurements, where at least
/// two of them depend on it (elasticity above a tenth), where it makes the measurements left out come closer and where
/// the mean error does not grow. All may stay at one.
/// \param jobs simulations at the same time; the result does not depend on it
/// \throws ScenarioError if there are too few measurements, saying how many are missing
CalibrationResult fit_calibration(std::span<const Measurement> measurements, int jobs);

/// The factors as a file that `workload.calibrate` of a scenario can name. \param origin where the measurements stand
std::string to_yaml(const CalibrationResult& result, const std::string& origin);

}  // namespace gpuscale
