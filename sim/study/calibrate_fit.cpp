#include "study/calibrate_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "study/parallel_for.hpp"
#include "study/simulate.hpp"

namespace gpuscale {

namespace {

constexpr double kSlopeStep = 0.02;

double residual(Seconds simulated, Seconds measured) { return std::log(simulated / measured); }

Linearised linearise(const Simulations& simulations, const std::vector<Knob>& knobs, const std::vector<double>& logs) {
  std::vector<Calibration> factors = {calibration_of(knobs, logs)};
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    std::vector<double> moved = logs;
    moved[i] += kSlopeStep;
    factors.push_back(calibration_of(knobs, moved));
  }
  const std::vector<std::vector<Seconds>> times = simulations.times(factors);
  Linearised at;
  at.slopes.resize(knobs.size());
  for (std::size_t i = 0; i < simulations.size(); ++i) {
    at.residuals.push_back(residual(times[0][i], simulations.measurement(i).step_time));
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      at.slopes[k].push_back(std::log(times[k + 1][i] / times[0][i]) / kSlopeStep);
    }
  }
  return at;
}

std::vector<double> moved_by(std::vector<double> logs, const std::vector<double>& step) {
  const double limit = std::log(kMostCalibration);
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = std::clamp(logs[i] + step[i], -limit, limit);
  return logs;
}

}  // namespace

Calibration calibration_of(const std::vector<Knob>& knobs, const std::vector<double>& logs) {
  Calibration factors;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    for (const auto member : knobs[i].moves) factors.*member *= std::exp(logs[i]);
  }
  return factors;
}

std::vector<std::vector<Seconds>> Simulations::times(const std::vector<Calibration>& factors) const {
  std::vector<std::vector<Seconds>> times(factors.size(), std::vector<Seconds>(size()));
  parallel_for(factors.size() * size(), jobs_, nullptr,
               [&](std::size_t k) { times[k / size()][k % size()] = time(k % size(), factors[k / size()]); });
  return times;
}

std::vector<Seconds> Simulations::each(const std::vector<Calibration>& factors) const {
  std::vector<Seconds> times(size());
  parallel_for(size(), jobs_, nullptr, [&](std::size_t i) { times[i] = time(i, factors[i]); });
  return times;
}

Seconds Simulations::time(std::size_t i, const Calibration& factors) const {
  Scenario scenario = measurements_[i].scenario;
  scenario.job.calibrated_throughput.reset();
  scenario.job.calibration = factors;
  return simulate_step(scenario).step_time;
}

Fitted unfitted(const Simulations& simulations, const std::vector<Seconds>& times) {
  Fitted fitted{.left_out = times};
  for (std::size_t i = 0; i < simulations.size(); ++i) {
    fitted.at.residuals.push_back(residual(times[i], simulations.measurement(i).step_time));
  }
  return fitted;
}

Fitted fit(const Simulations& simulations, std::vector<Knob> knobs) {
  constexpr int kMostSteps = 8;
  constexpr double kSettled = 1e-4;
  Fitted fitted{.knobs = std::move(knobs)};
  fitted.logs.assign(fitted.knobs.size(), 0.0);
  fitted.at = linearise(simulations, fitted.knobs, fitted.logs);
  for (int i = 0; i < kMostSteps; ++i) {
    const std::vector<double> step = least_squares_step(fitted.at, fitted.logs, simulations.size());
    fitted.logs = moved_by(fitted.logs, step);
    fitted.at = linearise(simulations, fitted.knobs, fitted.logs);
    if (std::ranges::all_of(step, [](double move) { return std::abs(move) < kSettled; })) break;
  }
  std::vector<Calibration> without;
  for (std::size_t i = 0; i < simulations.size(); ++i) {
    without.push_back(
        calibration_of(fitted.knobs, moved_by(fitted.logs, least_squares_step(fitted.at, fitted.logs, i))));
  }
  fitted.left_out = simulations.each(without);
  return fitted;
}

double mean_error(const Simulations& simulations, const std::vector<Seconds>& times) {
  double sum = 0.0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    sum += std::abs(times[i] / simulations.measurement(i).step_time - 1.0);
  }
  return sum / static_cast<double>(times.size());
}

double mean_error(const Linearised& at) {
  double sum = 0.0;
  for (const double residual : at.residuals) sum += std::abs(std::exp(residual) - 1.0);
  return sum / static_cast<double>(at.residuals.size());
}

}  // namespace gpuscale
