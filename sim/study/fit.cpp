#include "study/fit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "study/fit_changes.hpp"
#include "study/simulate.hpp"

namespace gpuscale {

namespace {

constexpr double kWorthNaming = 0.005;  // of what the job needs

/// Tries changes on one job.
class Trial {
 public:
  Trial(const ScenarioFile& file, const Library& library, const std::vector<Setting>& settings)
      : file_(file), library_(library), settings_(settings) {}

  /// The job with a change; nothing if it cannot be.
  [[nodiscard]] std::optional<MemoryChange> with(const ChangeIdea& idea) const {
    std::vector<Setting> settings = settings_;
    settings.insert(settings.end(), idea.settings.begin(), idea.settings.end());
    try {
      return MemoryChange{idea.what, idea.settings, simulate_step(file_.resolve(library_, settings))};
    } catch (const ScenarioError&) {
      return std::nullopt;
    }
  }

 private:
  const ScenarioFile& file_;
  const Library& library_;
  const std::vector<Setting>& settings_;
};

bool is_worth_naming(const MemoryChange& change, const Report& before) {
  return change.saves(before) > before.memory.footprint.total() * kWorthNaming;
}

/// The first of some ideas that is good enough.
template <class Good>
std::optional<MemoryChange> first_of(const std::vector<ChangeIdea>& ideas, const Trial& trial, const Good& good) {
  for (const ChangeIdea& idea : ideas) {
    std::optional<MemoryChange> change = trial.with(idea);
    if (change && good(*change)) return change;
  }
  return std::nullopt;
}

bool sets_same_key(const MemoryChange& change, const std::vector<Setting>& settings) {
  return std::ranges::any_of(change.settings, [&](const Setting& own) {
    return std::ranges::find(settings, own.path, &Setting::path) != settings.end();
  });
}

/// Changes joined in their order until the job fits; nothing if it never does. What is no gain beside the
/// others is left out.
std::optional<MemoryChange> joined(const std::vector<MemoryChange>& changes, const Trial& trial, const Report& before) {
  MemoryChange together{.what = "", .settings = {}, .report = before};
  for (const MemoryChange& change : changes) {
    if (sets_same_key(change, together.settings)) continue;
    ChangeIdea idea{together.what + (together.what.empty() ? "" : " + ") + change.what, together.settings};
    idea.settings.insert(idea.settings.end(), change.settings.begin(), change.settings.end());
    std::optional<MemoryChange> next = trial.with(idea);
    if (!next || !is_worth_naming(*next, together.report)) continue;
    together = std::move(*next);
    if (together.report.memory.fits) return together;
  }
  return std::nullopt;
}

/// Changes joined in the order of what they save, and in that of how fast the job is with them.
std::vector<MemoryChange> ways_together(std::vector<MemoryChange> changes, const Trial& trial, const Report& before) {
  std::vector<MemoryChange> ways;
  const auto add = [&] {
    std::optional<MemoryChange> way = joined(changes, trial, before);
    if (way && (ways.empty() || ways.front().settings != way->settings)) ways.push_back(std::move(*way));
  };
  add();
  std::ranges::stable_sort(changes, std::ranges::greater(),
                           [](const MemoryChange& change) { return change.report.throughput; });
  add();
  return ways;
}

}  // namespace

Fit examine_fit(const ScenarioFile& file, const Library& library, const std::vector<Setting>& settings) {
  const Scenario scenario = file.resolve(library, settings);
  if (scenario.job.transfer) {
    throw ScenarioError({{Place{}, "the scenario is a transfer, which fills no memory; give one with a 'model'"}});
  }
  Fit fit;
  fit.report = simulate_step(scenario);
  const Trial trial(file, library, settings);
  const auto good = [&](const MemoryChange& change) { return is_worth_naming(change, fit.report); };
  for (const ChangeIdea& idea : change_ideas(scenario, fit.report)) {
    std::optional<MemoryChange> change = trial.with(idea);
    if (change && good(*change)) fit.changes.push_back(std::move(*change));
  }
  std::ranges::stable_sort(fit.changes, std::ranges::greater(),
                           [&](const MemoryChange& change) { return change.saves(fit.report); });
  const auto fits = [](const MemoryChange& change) { return change.report.memory.fits; };
  if (fit.report.memory.fits) return fit;
  if (std::ranges::none_of(fit.changes, fits)) {
    for (MemoryChange& change : ways_together(fit.changes, trial, fit.report)) fit.changes.push_back(std::move(change));
  }
  const Bytes needed = fit.report.memory.footprint.total();
  if (auto change = first_of(card_ideas(file, library, settings, scenario, needed), trial, fits)) {
    fit.changes.push_back(std::move(*change));
  }
  return fit;
}

const MemoryChange* best_way_to_fit(const Fit& fit) {
  const auto buys = [](const MemoryChange& change) {
    return std::ranges::find(change.settings, "cluster.gpu", &Setting::path) != change.settings.end();
  };
  const MemoryChange* best = nullptr;
  for (const MemoryChange& change : fit.changes) {
    if (!change.report.memory.fits) continue;
    const bool cheaper = best != nullptr && buys(*best) && !buys(change);
    const bool dearer = best != nullptr && !buys(*best) && buys(change);
    const bool faster = best == nullptr || change.report.throughput > best->report.throughput;
    if (cheaper || (faster && !dearer)) best = &change;
  }
  return best;
}

}  // namespace gpuscale
