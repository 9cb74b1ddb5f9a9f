#include "study/sweep.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "study/parallel_for.hpp"
#include "study/simulate.hpp"
#include "study/sweep_problems.hpp"

namespace gpuscale {

namespace {

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

/// All points of a small sweep; of a large one the first points that have each setting.
std::vector<std::size_t> resolved_first(std::span<const Point> points) {
  std::vector<std::size_t> chosen;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool is_new = points.size() <= kMostResolvedFirst;
    for (const Setting& setting : points[i]) is_new = seen.emplace(setting.path, setting.value).second || is_new;
    if (is_new) chosen.push_back(i);
    if (chosen.size() == kMostResolvedFirst) break;
  }
  return chosen;
}

/// \throws ScenarioError with the problems of all points resolved first.
Scenarios resolve(std::span<const Point> points, const SweepSteps& steps, const SweepOptions& options) {
  const std::vector<std::size_t> chosen = resolved_first(points);
  Scenarios scenarios(points.size());
  std::vector<std::vector<Problem>> problems(chosen.size());
  parallel_for(chosen.size(), options.jobs, options.stop, [&](std::size_t i) {
    try {
      scenarios[chosen[i]] = steps.resolve(points[chosen[i]]);
    } catch (const ScenarioError& error) {
      problems[i] = error.problems();
    }
  });
  std::vector<PointProblem> found;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (Problem& problem : problems[i]) found.push_back({chosen[i], std::move(problem)});
  }
  if (!found.empty()) throw ScenarioError(merge_problems(found, points));
  return scenarios;
}

/// Ends a sweep that is under way.
struct PointFailure {
  std::size_t point = 0;
  std::vector<Problem> problems;
};

/// \throws PointFailure
Report simulate_point(std::size_t i, std::span<const Point> points, Scenarios& scenarios, const SweepSteps& steps) {
  try {
    const std::optional<Scenario> kept = std::exchange(scenarios[i], std::nullopt);
    return steps.simulate(kept ? *kept : steps.resolve(points[i]));
  } catch (const ScenarioError& error) {
    std::vector<PointProblem> found;
    for (const Problem& problem : error.problems()) found.push_back({i, problem});
    throw PointFailure{i, merge_problems(found, points)};
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
  Scenarios scenarios = resolve(points, steps, options);
  std::vector<std::optional<Report>> reports(points.size());
  SweepResult result;
  std::mutex mutex;
  std::size_t done = 0;
  try {
    parallel_for(points.size(), options.jobs, options.stop, [&](std::size_t i) {
      Report report = simulate_point(i, points, scenarios, steps);
      if (!options.keep_layers) report.layers = {};
      reports[i] = std::move(report);
      const std::scoped_lock lock(mutex);
      ++done;
      if (options.on_done) options.on_done(done, points.size());
    });
  } catch (PointFailure& failure) {
    result.problems = std::move(failure.problems);
    reports.resize(failure.point);  // what other threads did beyond it depends on how many there are
  }
  for (std::optional<Report>& report : reports) {
    if (report) result.reports.push_back(std::move(*report));
  }
  result.interrupted = result.problems.empty() && result.reports.size() < points.size();
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
