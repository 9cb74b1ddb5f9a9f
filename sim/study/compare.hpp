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

namespace gpuscale {

/// A job to compare, under the name its user gave it.
struct Candidate {
  std::string name;
  Report report;
};

/// Ranks by throughput; what does not fit in memory comes last, and equals keep their order. The reasons
/// are the largest differences between the times per sample of a candidate and the first.
Ranking rank(std::vector<Candidate> candidates);

struct NamedScenario {
  std::string name;
  Scenario scenario;
};

/// Simulates all, `jobs` at a time. Once `stop` is true no further one is started, and those that were not
/// are missing from the result.
std::vector<Candidate> simulate_all(const std::vector<NamedScenario>& scenarios, int jobs,
                                    const std::atomic<bool>* stop);

}  // namespace gpuscale
