#include "study/compare.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

#include "study/parallel_for.hpp"
#include "study/refusal.hpp"
#include "study/simulate.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

struct Cause {
  std::string_view what;  ///< "exposed exchange": what takes the time
  Seconds StepSplit::*time;
};

constexpr std::array<Cause, 6> kCauses = {{{"compute", &StepSplit::compute},
                                           {"host work", &StepSplit::host},
                                           {"exposed exchange", &StepSplit::exchange_exposed},
                                           {"pipeline bubble", &StepSplit::bubble},
                                           {"waiting for input", &StepSplit::input},
                                           {"waiting for the slowest GPU", &StepSplit::jitter}}};

/// Jobs of unlike batches compare by the time a sample takes; of like ones, by the step.
double batch_of(const Report& report) { return report.global_batch > 0 ? report.global_batch : 1.0; }

/// Where a slower job loses against a faster one.
struct Loss {
  const Cause* cause = nullptr;
  Seconds slower;  ///< a step of the slower, brought to the batch of the faster
  Seconds faster;
};

/// A part of a step, without what rounding leaves of none.
Seconds part_of(const Report& report, const Cause& cause) {
  constexpr double kRemainder = 1e-6;
  const Seconds time = report.split.*cause.time;
  return time < report.step_time * kRemainder ? Seconds() : time;
}

Loss largest_loss(const Report& slower, const Report& faster) {
  const double scale = batch_of(faster) / batch_of(slower);
  const auto excess = [&](const Cause& cause) { return part_of(slower, cause) * scale - part_of(faster, cause); };
  const Cause& cause = *std::ranges::max_element(kCauses, {}, excess);
  return {&cause, part_of(slower, cause) * scale, part_of(faster, cause)};
}

bool is_exchange(const Loss& loss) { return loss.cause->time == &StepSplit::exchange_exposed; }
bool same_batch(const Report& a, const Report& b) { return batch_of(a) == batch_of(b); }

bool runs_and_fits(const Report& report) { return !is_refused(report) && report.memory.fits; }

/// Better ones first: what fits, what does not, what cannot run at all.
int class_of(const Report& report) { return is_refused(report) ? 2 : report.memory.fits ? 0 : 1; }

std::string too_big(const Report& report) {
  const auto [needs, has] = told_apart(report.memory.footprint.total(), report.memory.capacity);
  return fmt::format("does not fit: needs {} of {}", needs, has);
}

/// "; a GPU sends 12 MiB instead of 260 MiB", where that explains an exchange.
std::string bytes_reason(const Report& faster, const Report& slower) {
  if (faster.exchanged_per_gpu == slower.exchanged_per_gpu) return {};
  return fmt::format("; a GPU sends {} a step instead of {}", to_text(faster.exchanged_per_gpu),
                     to_text(slower.exchanged_per_gpu));
}

std::string loss_in_words(const Loss& loss) {
  if (loss.cause->time == &StepSplit::compute) return "computing";
  return std::string(loss.cause->what);
}

/// Why an entry is not first, in a few words.
std::string row_reason(const Report& report, const Report& best) {
  if (is_refused(report)) return "cannot run: " + report.problem;
  if (!report.memory.fits) return too_big(report);
  if (report.throughput >= best.throughput) return "as fast as the first";
  const Loss loss = largest_loss(report, best);
  const std::string step = same_batch(report, best) ? "" : " for as many samples";
  return fmt::format("{} more {}{} ({}, not {})", to_text(loss.slower - loss.faster), loss_in_words(loss), step,
                     to_text(loss.slower), to_text(loss.faster));
}

std::string winning_reason(const Report& best, const Report& next) {
  const Loss loss = largest_loss(next, best);
  const std::string step = same_batch(next, best) ? "a step" : "for as many samples";
  std::string text = fmt::format("{} takes {} {} instead of {}", loss_in_words(loss), to_text(loss.faster), step,
                                 to_text(loss.slower));
  if (is_exchange(loss)) text += bytes_reason(best, next);
  return text;
}

/// Why the first is first, in a few words.
std::string first_reason(const std::vector<RankedReport>& entries) {
  const Report& best = entries.front().report;
  if (!runs_and_fits(best)) return row_reason(best, best);
  if (entries.size() == 1 || !runs_and_fits(entries[1].report)) return best.limited_by;
  const Report& next = entries[1].report;
  if (next.throughput >= best.throughput) return fmt::format("as fast as {}", entries[1].name);
  const Loss loss = largest_loss(next, best);
  return fmt::format("{} less {}{} than {}", to_text(loss.slower - loss.faster), loss_in_words(loss),
                     same_batch(next, best) ? "" : " for as many samples", entries[1].name);
}

/// Nearer than this to each other, two results are the same for whoever chooses.
constexpr double kTie = 0.005;

std::string verdict_on(const std::vector<RankedReport>& entries) {
  const RankedReport& best = entries.front();
  if (is_refused(best.report)) return "none of them can run";
  if (!best.report.memory.fits) return "none of them fits in the memory of its GPUs";
  if (entries.size() == 1) return fmt::format("{} is alone", best.name);
  const RankedReport& next = entries[1];
  if (is_refused(next.report)) return fmt::format("{} wins: it alone can run", best.name);
  if (!next.report.memory.fits) return fmt::format("{} wins: it alone fits in memory", best.name);
  const double lead = best.report.throughput / next.report.throughput;
  if (lead < 1 + kTie) return fmt::format("{} and {} are as fast as each other", best.name, next.name);
  return fmt::format("{} wins with {:.2f}x the throughput of {}: {}", best.name, lead, next.name,
                     winning_reason(best.report, next.report));
}

}  // namespace

Ranking rank(std::vector<Candidate> candidates) {
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    if (class_of(a.report) != class_of(b.report)) return class_of(a.report) < class_of(b.report);
    return a.report.throughput > b.report.throughput;
  });
  Ranking ranking;
  for (Candidate& candidate : candidates) {
    RankedReport entry;
    entry.rank = is_refused(candidate.report) ? 0 : static_cast<int>(ranking.entries.size()) + 1;
    entry.name = std::move(candidate.name);
    entry.report = std::move(candidate.report);
    ranking.entries.push_back(std::move(entry));
  }
  if (ranking.entries.empty()) return ranking;
  const Report& best = ranking.entries.front().report;
  for (RankedReport& entry : ranking.entries) {
    entry.relative = is_refused(entry.report) ? 0.0 : entry.report.throughput / best.throughput;
    if (&entry.report != &best) entry.why = row_reason(entry.report, best);
  }
  ranking.entries.front().why = first_reason(ranking.entries);
  ranking.verdict = verdict_on(ranking.entries);
  return ranking;
}

std::vector<Candidate> simulate_all(const std::vector<NamedScenario>& scenarios, int jobs,
                                    const std::atomic<bool>* stop, FinishedReports& finished) {
  finished.start(scenarios.size());
  parallel_for(scenarios.size(), jobs, stop, [&](std::size_t i) {
    try {
      finished.put(i, simulate(scenarios[i].scenario));
    } catch (const ScenarioError& error) {
      finished.put(i, refusal(scenarios[i].scenario, error.problems()));
    }
  });
  return take_candidates(scenarios, finished);
}

std::vector<Candidate> take_candidates(const std::vector<NamedScenario>& scenarios, FinishedReports& finished) {
  std::vector<Candidate> candidates;
  std::vector<std::optional<Report>> reports = finished.take();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i]) candidates.push_back({scenarios[i].name, std::move(*reports[i])});
  }
  return candidates;
}

}  // namespace gpuscale
