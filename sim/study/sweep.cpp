#include "study/sweep.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "study/parallel_for.hpp"
#include "study/simulate.hpp"
#include "study/sweep_problems.hpp"

namespace gpuscale {

namespace {

/// Scenarios are kept from the check for the simulation up to this many; a larger sweep would not fit
/// in memory and reads each a second time.
constexpr std::size_t kMostKept = 2000;

std::size_t number_of_points(std::span<const SweepAxis> axes) {
  std::size_t count = 1;
  for (const SweepAxis& axis : axes) {
    if (axis.values.empty())
      throw std::invalid_argument(fmt::format("the axis {} of the sweep has no values", axis.path));
    if (axis.values.size() > kMostPoints / count) {
      throw std::invalid_argument(
          fmt::format("the sweep has more than {} points; take values or axes out", kMostPoints));
    }
    count *= axis.values.size();
  }
  return count;
}

using Scenarios = std::vector<std::optional<Scenario>>;

/// Resolves every point. \throws ScenarioError with the problems of all.
Scenarios resolve_all(std::span<const Point> points, const SweepSteps& steps, const SweepOptions& options) {
  Scenarios scenarios(points.size() <= kMostKept ? points.size() : 0);
  std::vector<std::vector<Problem>> problems(points.size());
  parallel_for(points.size(), options.jobs, options.stop, [&](std::size_t i) {
    try {
      Scenario scenario = steps.resolve(points[i]);
      if (!scenarios.empty()) scenarios[i] = std::move(scenario);
    } catch (const ScenarioError& error) {
      problems[i] = error.problems();
    }
  });
  std::vector<PointProblem> found;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    for (Problem& problem : problems[i]) found.push_back({i, std::move(problem)});
  }
  if (!found.empty()) throw ScenarioError(merge_problems(found, points));
  return scenarios;
}

/// \throws ScenarioError that says at which point.
Report simulate_point(std::size_t i, std::span<const Point> points, Scenarios& scenarios, const SweepSteps& steps) {
  try {
    const bool kept = !scenarios.empty() && scenarios[i];
    const Scenario scenario = kept ? *std::exchange(scenarios[i], std::nullopt) : steps.resolve(points[i]);
    return steps.simulate(scenario);
  } catch (const ScenarioError& error) {
    std::vector<PointProblem> found;
    for (const Problem& problem : error.problems()) found.push_back({i, problem});
    throw ScenarioError(merge_problems(found, points));
  }
}

}  // namespace

std::vector<Point> expand(std::span<const SweepAxis> axes) {
  const std::size_t count = number_of_points(axes);
  std::vector<Point> points(count);
  std::size_t repeat = count;
  for (const SweepAxis& axis : axes) {
    repeat /= axis.values.size();
    for (std::size_t i = 0; i < count; ++i) {
      points[i].push_back({axis.path, axis.values[i / repeat % axis.values.size()]});
    }
  }
  return points;
}

SweepResult run_sweep(std::span<const Point> points, const SweepSteps& steps, const SweepOptions& options) {
  Scenarios scenarios = resolve_all(points, steps, options);
  std::vector<std::optional<Report>> reports(points.size());
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(points.size(), options.jobs, options.stop, [&](std::size_t i) {
    reports[i] = simulate_point(i, points, scenarios, steps);
    const std::scoped_lock lock(mutex);
    ++done;
    if (options.on_done) options.on_done(done, points.size());
  });
  SweepResult result;
  for (std::optional<Report>& report : reports) {
    if (report) result.reports.push_back(std::move(*report));
  }
  result.interrupted = result.reports.size() < points.size();
  return result;
}

SweepResult run_sweep(const ScenarioFile& file, const Library& library, const Point& common,
                      std::span<const Point> points, const SweepOptions& options) {
  const auto resolve = [&](const Point& point) {
    Point settings = common;
    settings.insert(settings.end(), point.begin(), point.end());
    return file.resolve(library, settings);
  };
  return run_sweep(points, {.resolve = resolve, .simulate = simulate}, options);
}

}  // namespace gpuscale
