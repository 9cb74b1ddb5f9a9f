#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "hardware/kernel_time.hpp"
#include "study/simulate.hpp"

namespace gpuscale::fit {

namespace {

double damped(double error) {
  constexpr double kFactorTwo = 0.7;
  return error < kFactorTwo ? error : kFactorTwo + (error - kFactorTwo) / 3.0;
}

/// Half of it is fair to both directions (|log|), half is what tables of errors print (|ratio - 1|).
double miss(double ratio) { return (damped(std::abs(std::log(ratio))) + damped(std::abs(ratio - 1.0))) / 2.0; }

bool on(Units units, bool matrix) { return units == Units::any || (units == Units::matrix) == matrix; }

/// Whether a constant says anything about these samples: those of units that none of them uses do not.
bool decided(const Constant& constant, const Samples& samples) {
  const bool of_matrix = constant.path.find(".matrix.") != std::string_view::npos;
  const bool of_vector = constant.path.find(".vector.") != std::string_view::npos;
  if (!of_matrix && !of_vector) return true;
  return std::ranges::any_of(samples, [&](const Sample* sample) { return sample->matrix == of_matrix; });
}

Seconds time_on(const Gpu& gpu, const Sample& sample) {
  Seconds total;
  for (const Kernel& kernel : sample.kernel.kernels) total += kernel_time(gpu, kernel, sample.kernel.precision);
  return total;
}

}  // namespace

double ratio(const Sample& sample, const Family& family) {
  Gpu gpu = sample.kernel.gpu;
  gpu.family = family;
  return time_on(gpu, sample) / sample.measured;
}

double ratio(const Step& step, const Family& family) {
  Scenario scenario = step.scenario;
  scenario.cluster.gpu.family = family;
  return step.samples_per_second / simulate(scenario).throughput;
}

double distance(const Samples& samples, const Family& family) {
  std::map<std::string_view, Gpu> cards;  // a copy each, not one a sample
  double sum = 0.0;
  for (const Sample* sample : samples) {
    const Gpu& measured_on = sample->kernel.gpu;
    const auto [card, is_new] = cards.try_emplace(measured_on.id, measured_on);
    if (is_new) card->second.family = family;
    sum += miss(time_on(card->second, *sample) / sample->measured);
  }
  return samples.empty() ? 0.0 : sum / static_cast<double>(samples.size());
}

double distance(const Steps& steps, const Family& family) {
  std::map<std::string, std::vector<double>> groups;
  for (const Step* step : steps) groups[step->what].push_back(std::log(ratio(*step, family)));
  double sum = 0.0;
  for (auto& [what, logs] : groups) {
    std::ranges::sort(logs);
    sum += damped(std::abs(logs[logs.size() / 2]));
  }
  return groups.empty() ? 0.0 : sum / static_cast<double>(groups.size());
}

Family descend(const Family& start, std::span<const Constant* const> free,
               const std::function<double(const Family&)>& distance) {
  constexpr double kFirstStep = 0.4;
  constexpr double kLastStep = 0.01;
  constexpr double kShrink = 0.6;
  constexpr double kLeastGain = 1e-6;
  constexpr int kRounds = 4;
  Family best = start;
  for (const Constant* constant : free) set_value(*constant, best, value_of(*constant, start));  // within its limits
  double reached = distance(best);
  const auto try_factor = [&](const Constant& constant, double factor) {
    Family candidate = best;
    set_value(constant, candidate, value_of(constant, best) * factor);
    if (candidate == best) return false;
    const double found = distance(candidate);
    if (found >= reached - kLeastGain) return false;
    best = candidate;
    reached = found;
    return true;
  };
  for (double step = kFirstStep; step > kLastStep; step *= kShrink) {
    bool moved = true;
    for (int round = 0; round < kRounds && moved; ++round) {
      moved = false;
      for (const Constant* constant : free) {
        if (try_factor(*constant, 1.0 + step) || try_factor(*constant, 1.0 / (1.0 + step))) moved = true;
      }
    }
  }
  return best;
}

std::vector<const Constant*> named(std::span<const std::string_view> paths) {
  std::vector<const Constant*> found;
  for (const Constant& constant : constants()) {
    if (names(paths, constant.path)) found.push_back(&constant);
  }
  return found;
}

Samples of_stage(const std::vector<Sample>& samples, const Stage& stage, std::string_view family) {
  Samples found;
  for (const Sample& sample : samples) {
    const bool fits = sample.kernel.gpu.family.id == family && on(stage.units, sample.matrix) &&
                      std::ranges::find(stage.classes, sample.class_name) != stage.classes.end();
    if (fits) found.push_back(&sample);
  }
  return found;
}

Family fit_stages(const Family& start, const std::vector<Sample>& samples, std::span<const std::string_view> hold) {
  Family family = start;
  for (const Stage& stage : stages()) {
    const Samples deciding = of_stage(samples, stage, start.id);
    if (deciding.empty()) continue;
    std::vector<const Constant*> free = named(stage.constants);
    std::erase_if(
        free, [&](const Constant* constant) { return names(hold, constant->path) || !decided(*constant, deciding); });
    family = descend(family, free, [&](const Family& candidate) { return distance(deciding, candidate); });
  }
  return family;
}

}  // namespace gpuscale::fit
