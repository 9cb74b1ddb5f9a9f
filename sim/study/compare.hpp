#pragma once

/// \file
/// Which of several jobs is fastest, and why.

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "report/ranking.hpp"
#include "report/report.hpp"
#include "scenario/scenario.hpp"
#include "study/finished_reports.hpp"

namespace gpuscale {

/// A job to compare, under the name its user gave it.
struct Candidate {
  std::string name;
  Report report;
};

/// Ranks by throughput; what does not fit in memory comes below, what cannot run last and without a place,
/// and equals keep their order. The reasons are the largest differences between the times per sample of a
/// candidate and the first, or what keeps it from running.
Ranking rank(std::vector<Candidate> candidates);

struct NamedScenario {
  std::string name;
  Scenario scenario;
};

/// Simulates all, `jobs` at a time; one whose hardware cannot be joined up is a refused one. Once `stop` is
/// true no further one is started, and those that were not are missing from the result. `finished` has the
/// reports so far.
std::vector<Candidate> simulate_all(const std::vector<NamedScenario>& scenarios, int jobs,
                                    const std::atomic<bool>* stop, FinishedReports& finished);

/// The reports taken from `finished` with the names of their scenarios.
std::vector<Candidate> take_candidates(const std::vector<NamedScenario>& scenarios, FinishedReports& finished);

}  // namespace gpuscale
