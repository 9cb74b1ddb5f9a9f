#include "study/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "report/text_style.hpp"
#include "scenario/yaml_value.hpp"
#include "study/calibrate_fit.hpp"

namespace gpuscale {

namespace {

constexpr double kDepends = 0.1;    // elasticity above which a measurement says something of a factor
constexpr double kVisible = 0.001;  // errors are told in tenths of a percent
constexpr double kBetter = 0.9;     // of the error left out, for a factor to be worth having

/// How many measurements take noticeably longer when a knob is turned up by half, with the data files as they are or
/// with what is fitted so far: a fit without the knob may hide that they depend on it.
std::ptrdiff_t depending(const Simulations& simulations, const Fitted& now, const Knob& knob) {
  constexpr double kProbe = 0.4;  // of the logarithm: half as much again
  std::vector<Calibration> factors;
  for (Calibration base : {Calibration{}, calibration_of(now.knobs, now.logs)}) {
    factors.push_back(base);
    for (const auto member : knob.moves) base.*member *= std::exp(kProbe);
    factors.push_back(base);
  }
  const std::vector<std::vector<Seconds>> times = simulations.times(factors);
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < simulations.size(); ++i) {
    const double as_files = std::log(times[1][i] / times[0][i]);
    const double as_fitted = std::log(times[3][i] / times[2][i]);
    if (std::max(as_files, as_fitted) >= kDepends * kProbe) ++count;
  }
  return count;
}

std::string missing_text(std::size_t more) { return fmt::format("{} more measurement{}", more, more == 1 ? "" : "s"); }

/// What a factor is that is not fitted on its own: the streams of a GPU are part of what it computes.
std::string_view left_as(const Knob& knob) { return knob.name == "streams" ? "left as compute" : "left at 1"; }

bool has(const Fitted& fitted, std::string_view name) {
  return std::ranges::find(fitted.knobs, name, &Knob::name) != fitted.knobs.end();
}

/// Takes a further knob if the measurements allow and want it; says why.
FactorReport consider(const Simulations& simulations, Fitted& best, const Knob& knob, bool replaces) {
  FactorReport report{.name = std::string(knob.name), .factor = {}, .why = ""};
  if (replaces && !has(best, "compute")) {
    report.why = "left at 1: compute is";
    return report;
  }
  const std::size_t needed = kMeasurementsPerFactor * (best.knobs.size() + 1);
  if (simulations.size() < needed) {
    report.why = fmt::format("{}: needs {}", left_as(knob), missing_text(needed - simulations.size()));
    return report;
  }
  const std::ptrdiff_t say = depending(simulations, best, knob);
  if (say < static_cast<std::ptrdiff_t>(kMeasurementsPerFactor)) {
    report.why = fmt::format("{}: {} of {} measurements depend on it", left_as(knob), say, simulations.size());
    return report;
  }
  std::vector<Knob> knobs = best.knobs;
  if (replaces) *std::ranges::find(knobs, "compute", &Knob::name) = {"products", {&Calibration::products}};
  knobs.push_back(knob);
  Fitted more = fit(simulations, std::move(knobs));
  const double before = mean_error(simulations, best.left_out);
  const double after = mean_error(simulations, more.left_out);
  const double all_before = mean_error(best.at);
  const double all_after = mean_error(more.at);
  const bool grows =
      all_after > all_before + kVisible;  // least squares may bring one large error down and many small ones up
  const bool better = after < kBetter * before && !grows;
  report.why = grows ? fmt::format("{}: with {:.3f} the mean error grows from {:.1f} % to {:.1f} %", left_as(knob),
                                   std::exp(more.logs.back()), 100 * all_before, 100 * all_after)
                     : fmt::format("{}: a measurement left out is then off by {:.1f} % in place of {:.1f} %",
                                   better ? "taken" : left_as(knob), 100 * after, 100 * before);
  if (better) best = std::move(more);
  return report;
}

/// Tries the knobs in turn, and those that were left a second time: one may be worth having beside another only.
std::vector<FactorReport> select(const Simulations& simulations, Fitted& best) {
  struct Candidate {
    Knob knob;
    bool replaces;  ///< computing as one
  };
  const std::vector<Candidate> candidates = {{{"compute", {&Calibration::products, &Calibration::streams}}, false},
                                             {{"host", {&Calibration::host}}, false},
                                             {{"exchange", {&Calibration::exchange}}, false},
                                             {{"streams", {&Calibration::streams}}, true}};
  std::vector<FactorReport> tried(candidates.size());
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool divided = candidates[i].knob.name == "compute" && has(best, "products");
      if (!has(best, candidates[i].knob.name) && !divided) {
        tried[i] = consider(simulations, best, candidates[i].knob, candidates[i].replaces);
      }
    }
  }
  return tried;
}

std::vector<CalibrationRow> rows_of(const Simulations& simulations, const std::vector<Seconds>& before,
                                    const std::vector<Seconds>& after, const Fitted& best) {
  std::vector<CalibrationRow> rows;
  for (std::size_t i = 0; i < simulations.size(); ++i) {
    const Measurement& measurement = simulations.measurement(i);
    rows.push_back({measurement.name, measurement.step_time, before[i], after[i], best.left_out[i]});
  }
  return rows;
}

}  // namespace

CalibrationResult fit_calibration(std::span<const Measurement> measurements, int jobs) {
  if (measurements.size() < kMeasurementsPerFactor) {
    throw ScenarioError(
        {{Place{}, fmt::format("{} of {} measurements is too few; add {}", measurements.size(), kMeasurementsPerFactor,
                               missing_text(kMeasurementsPerFactor - measurements.size()))}});
  }
  const Simulations simulations(measurements, jobs);
  const std::vector<Seconds> before = simulations.times({Calibration{}}).front();
  Fitted best = unfitted(simulations, before);
  CalibrationResult result;
  result.tried = select(simulations, best);
  result.factors = calibration_of(best.knobs, best.logs);
  for (FactorReport& tried : result.tried) {
    for (std::size_t i = 0; i < best.knobs.size(); ++i) {
      const bool is_products = tried.name == "compute" && best.knobs[i].name == "products";
      if (best.knobs[i].name == tried.name || is_products) tried.factor = std::exp(best.logs[i]);
      if (is_products) tried.name = "products";
    }
  }
  const std::vector<Seconds> after = simulations.times({result.factors}).front();
  result.rows = rows_of(simulations, before, after, best);
  result.error_before = mean_error(simulations, before);
  result.error_after = mean_error(simulations, after);
  result.error_left_out = mean_error(simulations, best.left_out);
  return result;
}

/// A text as YAML writes it, in quotation marks where it needs them.
static std::string yaml_text(const std::string& text) {
  YamlValue value;
  value.kind = YamlKind::scalar;
  value.text = text;
  return to_yaml(value);
}

std::string to_yaml(const CalibrationResult& result, const std::string& origin) {
  const Calibration& factors = result.factors;
  return fmt::format(
      "# Factors on times, for 'workload.calibrate' of a scenario.\n"
      "name: {9}\n"
      "source: >\n"
      "  {1} measurements of {0}. Mean error of the step time {2:.1f} % before, {3:.1f} % after, {4:.1f} % of a\n"
      "  measurement that was left out.\n"
      "products: {5:.4g}\nstreams: {6:.4g}\nhost: {7:.4g}\nexchange: {8:.4g}\n",
      printable(origin), result.rows.size(), 100 * result.error_before, 100 * result.error_after,
      100 * result.error_left_out, factors.products, factors.streams, factors.host, factors.exchange,
      yaml_text("Calibration from " + origin));
}

}  // namespace gpuscale
