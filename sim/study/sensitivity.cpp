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

/// The step time of a variant. `plain` is the hardware that better and worse are held against: that of the job, or
/// what scaling by one makes of it.
Seconds variant_time(const Scenario& scenario, const Figure& figure, Variant variant) {
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
  return simulate_step(changed).step_time;
}

std::string times_text(double ratio) { return fmt::format("{:.2f}x as long", ratio); }

std::string sentence_of(const Figure& figure, const FigureEffect& effect) {
  constexpr double kNoGain = 0.05;  // percent
  const double gain = 100.0 * (std::pow(kStep, effect.elasticity.value_or(0.0)) - 1.0);
  std::string text;
  if (figure.scale && std::abs(gain) >= kNoGain) text = fmt::format("10 % more: {:.1f} % more throughput; ", gain);
  const std::string_view when = effect.removed ? "without them" : "half as good";
  if (text.empty() && effect.worse < kMatters) {
    text = fmt::format("{}, the step takes as long", when);
  } else {
    text += fmt::format("{}: {}", when, times_text(effect.worse));
  }
  return figure.note.empty() ? text : fmt::format("{} ({})", text, figure.note);
}

FigureEffect effect_of(const Figure& figure, const std::array<Seconds, kVariants>& times, Seconds as_is) {
  const auto time = [&](Variant variant) { return times[static_cast<std::size_t>(variant)]; };
  FigureEffect effect{.key = figure.key, .name = figure.name, .now = figure.now, .sentence = ""};
  if (figure.scale) {
    effect.elasticity = std::log(time(Variant::slightly_worse) / time(Variant::better)) / (2.0 * std::log(kStep));
  }
  effect.removed = static_cast<bool>(figure.remove);
  effect.worse = time(Variant::worse) / (effect.removed ? as_is : time(Variant::plain));
  if (figure.removal_halves) effect.elasticity = std::log(effect.worse) / std::log(1.0 / kHalf);
  effect.sentence = sentence_of(figure, effect);
  return effect;
}

std::string verdict_on(const std::vector<FigureEffect>& effects) {
  std::vector<std::string> names;
  for (const FigureEffect& effect : effects) {
    if (effect.worse >= kMatters) names.push_back(effect.name);
  }
  if (names.empty()) return "no figure that was changed matters to this job";
  return fmt::format("matters most first: {}", fmt::join(names, ", "));
}

}  // namespace

Sensitivity examine_sensitivity(const Scenario& scenario, int jobs, const std::atomic<bool>* stop) {
  const Scenario measured = calibrated(scenario);
  Sensitivity result{.report = simulate_step(measured), .effects = {}, .verdict = ""};
  const std::vector<Figure> figures = figures_of(measured);
  std::vector<std::array<Seconds, kVariants>> times(figures.size());
  parallel_for(figures.size() * kVariants, jobs, stop, [&](std::size_t i) {
    times[i / kVariants][i % kVariants] =
        variant_time(measured, figures[i / kVariants], static_cast<Variant>(i % kVariants));
  });
  if (stop != nullptr && *stop) return result;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    result.effects.push_back(effect_of(figures[i], times[i], result.report.step_time));
  }
  std::ranges::stable_sort(result.effects, std::ranges::greater(), &FigureEffect::worse);
  result.verdict = verdict_on(result.effects);
  return result;
}

}  // namespace gpuscale
