#pragma once

/// \file
/// Many points of one scenario: every combination of the values of its axes, simulated in parallel.

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "report/report.hpp"
#include "scenario/scenario.hpp"
#include "study/finished_reports.hpp"

namespace gpuscale {

/// More points than this are refused: a slip of the pen rather than a study.
inline constexpr std::size_t kMostPoints = 1'000'000;

/// What is set at one point.
using Point = std::vector<Setting>;

/// Every combination of the values, the first axis slowest. No axes give one point without settings.
/// \throws std::invalid_argument, with a text for the user, above kMostPoints.
std::vector<Point> expand(std::span<const SweepAxis> axes);

struct SweepOptions {
  int jobs = 1;                                                           ///< points simulated at the same time
  std::function<void(std::size_t done, std::size_t total)> on_done = {};  ///< after each point, one call at a time
  bool keep_layers = false;                 ///< Report::layers, which take most of the memory of a large sweep
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: start no further point
  FinishedReports* finished = nullptr;      ///< where reports wait for the end, if others want to see them before
};

struct SweepResult {
  std::vector<Report> reports;  ///< of finished points, in the order of points; a refused one has Report::problem
  bool interrupted = false;     ///< stopped before all points were done
};

/// How many of the reports are of points that cannot run.
std::size_t count_refused(std::span<const Report> reports);

/// Up to this many points, all are resolved before the first is simulated. Of a larger sweep this
/// many at most: those that show a value for the first time.
inline constexpr std::size_t kMostResolvedFirst = 1000;

/// The two steps of a point, so that a test can replace them. Both are called from several threads.
struct SweepSteps {
  std::function<Scenario(const Point&)> resolve;
  std::function<Report(const Scenario&)> simulate;
};

/// Simulates every point. The result does not depend on `jobs`. Points are resolved before the first is
/// simulated, so that a mistake in any of them ends the sweep at once. A point that is an UnfitScenario, or
/// that fails later, is no mistake: its report has the problem, and the others run.
/// \throws ScenarioError with the problems of the mistaken points resolved first, each once; one that only
/// some points have says which. The same if all points are unfit, or all resolved first for the same reason.
SweepResult run_sweep(std::span<const Point> points, const SweepSteps& steps, const SweepOptions& options);

/// The same for the scenario of a file, `common` set at every point before the point's own settings.
SweepResult run_sweep(const ScenarioFile& file, const Library& library, const Point& common,
                      std::span<const Point> points, const SweepOptions& options);

}  // namespace gpuscale
