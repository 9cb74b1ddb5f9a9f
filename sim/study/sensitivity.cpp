#include "study/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "study/parallel_for.hpp"
#include "study/simulate.hpp"

namespace gpuscale {

namespace {

constexpr double kStep = 1.1;  // a figure 10 % better, or 10 % worse
constexpr double kHalf = 0.5;
constexpr double kMatters = 1.01;  // step time ratio above which a figure is worth naming

/// Simulations of one figure.
enum class Variant { better, slightly_worse, plain, worse };
constexpr std::size_t kVariants = 4;

struct Outcome {
  Seconds step_time = {};
  bool fits = true;
};

/// The step of a variant. `plain` is the hardware that better and worse are held against: that of the job, or
/// what scaling by one makes of it.
Outcome outcome_of(const Scenario& scenario, const Figure& figure, Variant variant) {
  Scenario changed = scenario;
  const auto scale = [&](double factor) { figure.scale(changed.job, changed.cluster, factor); };
  if (variant == Variant::worse) {
    if (figure.remove) {
      figure.remove(changed.job, changed.cluster);
    } else {
      scale(kHalf);
    }
  } else if (figure.scale) {
    scale(variant == Variant::better ? kStep : variant == Variant::slightly_worse ? 1.0 / kStep : 1.0);
  }
  const Report report = simulate_step(changed);
  return {report.step_time, report.memory.fits};
}

std::string sentence_of(const Figure& figure, const FigureEffect& effect) {
  constexpr double kNoGain = 0.0005;
  const bool gains = figure.scale && std::abs(effect.gain()) >= kNoGain;
  const std::string_view when = effect.removed ? "without them" : "half as good";
  std::string text;
  if (!effect.fits) {
    text = fmt::format("{}: the job does not fit in memory", when);
  } else if (effect.matters()) {
    text = fmt::format("{}: the step takes {:.2f}x as long", when, effect.worse);
  } else {
    text = fmt::format("{}: the step takes as long as now", when);
  }
  if (gains) text = fmt::format("10 % better: {:.1f} % more throughput; {}", 100.0 * effect.gain(), text);
  return effect.note.empty() ? text : fmt::format("{} ({})", text, effect.note);
}

FigureEffect effect_of(const Figure& figure, const std::array<Outcome, kVariants>& outcomes, const Report& as_is) {
  const auto outcome = [&](Variant variant) { return outcomes[static_cast<std::size_t>(variant)]; };
  const auto time = [&](Variant variant) { return outcome(variant).step_time; };
  FigureEffect effect{.key = figure.key, .name = figure.name, .now = figure.now, .note = figure.note};
  if (figure.scale) {
    effect.elasticity = std::log(time(Variant::slightly_worse) / time(Variant::better)) / (2.0 * std::log(kStep));
  }
  effect.scales = static_cast<bool>(figure.scale);
  effect.removed = static_cast<bool>(figure.remove);
  effect.worse = time(Variant::worse) / (effect.removed ? as_is.step_time : time(Variant::plain));
  if (figure.removal_halves) effect.elasticity = std::log(effect.worse) / std::log(1.0 / kHalf);
  effect.fits = outcome(Variant::worse).fits || !as_is.memory.fits;
  effect.sentence = sentence_of(figure, effect);
  return effect;
}

std::string verdict_on(const std::vector<FigureEffect>& effects) {
  std::vector<std::string> names;
  for (const FigureEffect& effect : effects) {
    if (effect.matters()) names.push_back(effect.name);
  }
  std::string text = names.empty() ? "no figure that was changed changes the step time of this job"
                                   : fmt::format("matters most first: {}", fmt::join(names, ", "));
  for (const FigureEffect& effect : effects) {
    if (!effect.fits) {
      text += fmt::format("; {} {} the job does not fit in memory", effect.removed ? "without" : "with half the",
                          effect.name);
    }
  }
  return text;
}

}  // namespace

double FigureEffect::gain() const { return std::pow(kStep, elasticity.value_or(0.0)) - 1.0; }

bool FigureEffect::matters() const { return worse >= kMatters; }

Sensitivity examine_sensitivity(const Scenario& scenario, int jobs, const std::atomic<bool>* stop) {
  const Scenario measured = calibrated(scenario);
  Sensitivity result{.report = simulate_step(measured), .effects = {}, .verdict = ""};
  const std::vector<Figure> figures = figures_of(measured);
  std::vector<std::array<Outcome, kVariants>> outcomes(figures.size());
  parallel_for(figures.size() * kVariants, jobs, stop, [&](std::size_t i) {
    outcomes[i / kVariants][i % kVariants] =
        outcome_of(measured, figures[i / kVariants], static_cast<Variant>(i % kVariants));
  });
  if (stop != nullptr && *stop) return result;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    result.effects.push_back(effect_of(figures[i], outcomes[i], result.report));
  }
  std::ranges::stable_sort(result.effects, std::ranges::greater(), &FigureEffect::worse);
  result.verdict = verdict_on(result.effects);
  return result;
}

}  // namespace gpuscale
