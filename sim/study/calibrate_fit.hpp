#pragma once

/// \file
/// Fits a few factors of a calibration to measurements. Internal to calibrate.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "parallel/calibration.hpp"
#include "study/calibrate.hpp"
#include "study/least_squares.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// A factor that is fitted: what of a calibration it moves.
struct Knob {
  std::string_view name;
  std::vector<double Calibration::*> moves;
};

/// Knobs fitted together.
struct Fitted {
  std::vector<Knob> knobs = {};
  std::vector<double> logs = {};       ///< of their factors
  std::vector<Seconds> left_out = {};  ///< by measurement, its step time with factors from all others
  Linearised at = {};
};

/// Knobs turned to these logarithms.
Calibration calibration_of(const std::vector<Knob>& knobs, const std::vector<double>& logs);

/// Simulates measurements under calibrations.
class Simulations {
 public:
  /// `jobs` simulations at a time. The measurements must outlive it.
  Simulations(std::span<const Measurement> measurements, int jobs) : measurements_(measurements), jobs_(jobs) {}

  [[nodiscard]] std::size_t size() const { return measurements_.size(); }
  [[nodiscard]] const Measurement& measurement(std::size_t i) const { return measurements_[i]; }

  /// Step times of all measurements, row by row for each calibration.
  [[nodiscard]] std::vector<std::vector<Seconds>> times(const std::vector<Calibration>& factors) const;
  /// Measurement i under calibration i.
  [[nodiscard]] std::vector<Seconds> each(const std::vector<Calibration>& factors) const;

 private:
  [[nodiscard]] Seconds time(std::size_t i, const Calibration& factors) const;

  std::span<const Measurement> measurements_;
  int jobs_;
};

/// No factor at all. \param times of the measurements with the data files as they are
Fitted unfitted(const Simulations& simulations, const std::vector<Seconds>& times);

/// Gauss-Newton from factors of one; then each measurement left out by one more step without it.
Fitted fit(const Simulations& simulations, std::vector<Knob> knobs);

/// Mean of |simulated / measured - 1|: of times, or of the residuals of a fit.
double mean_error(const Simulations& simulations, const std::vector<Seconds>& times);
double mean_error(const Linearised& at);

}  // namespace gpuscale
