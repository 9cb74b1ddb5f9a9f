#include "study/sweep.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "study/parallel_for.hpp"
#include "study/refusal.hpp"
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

/// A point before it is simulated: its scenario, or the report of one that cannot run, or neither yet.
using ResolvedPoint = std::variant<std::monostate, Scenario, Report>;

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

/// What is wrong with the points resolved first.
struct FirstProblems {
  std::vector<std::vector<Problem>> mistakes;  ///< by place among the chosen
  std::vector<std::vector<Problem>> refusals;
};

std::vector<PointProblem> by_point(std::vector<std::vector<Problem>>& problems, std::span<const std::size_t> chosen) {
  std::vector<PointProblem> found;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (Problem& problem : problems[i]) found.push_back({chosen[i], std::move(problem)});
  }
  return found;
}

bool shared_by_all(const Problem& problem, const std::vector<std::vector<Problem>>& lists) {
  return std::ranges::all_of(
      lists, [&](const std::vector<Problem>& list) { return std::ranges::find(list, problem) != list.end(); });
}

/// Whether no point can run, as far as the chosen ones tell.
bool all_refused(const std::vector<std::vector<Problem>>& refusals, bool all_points_chosen) {
  const auto is_refused = [](const std::vector<Problem>& problems) { return !problems.empty(); };
  if (refusals.empty() || !std::ranges::all_of(refusals, is_refused)) return false;
  return all_points_chosen || std::ranges::any_of(refusals.front(), [&](const Problem& problem) {
           return shared_by_all(problem, refusals);
         });
}

/// \throws ScenarioError if a point has a mistake or no point can run.
std::vector<ResolvedPoint> resolve(std::span<const Point> points, const SweepSteps& steps,
                                   const SweepOptions& options) {
  const std::vector<std::size_t> chosen = resolved_first(points);
  std::vector<ResolvedPoint> resolved(points.size());
  FirstProblems problems{std::vector<std::vector<Problem>>(chosen.size()),
                         std::vector<std::vector<Problem>>(chosen.size())};
  parallel_for(chosen.size(), options.jobs, options.stop, [&](std::size_t i) {
    ResolvedPoint& point = resolved[chosen[i]];
    try {
      point = steps.resolve(points[chosen[i]]);
    } catch (const UnfitScenario& error) {
      problems.refusals[i] = error.problems();
      point = refusal(error.scenario(), error.problems());
    } catch (const ScenarioError& error) {
      problems.mistakes[i] = error.problems();
    }
  });
  const std::vector<PointProblem> mistakes = by_point(problems.mistakes, chosen);
  if (!mistakes.empty()) throw ScenarioError(merge_problems(mistakes, points));
  if (all_refused(problems.refusals, chosen.size() == points.size())) {
    throw ScenarioError(merge_problems(by_point(problems.refusals, chosen), points));
  }
  return resolved;
}

/// The report of a point under way, whatever is wrong with it.
Report report_of(const Point& point, ResolvedPoint resolved, const SweepSteps& steps) {
  if (Report* refused = std::get_if<Report>(&resolved)) return std::move(*refused);
  Scenario asked;
  asked.settings = point;
  try {
    Scenario* known = std::get_if<Scenario>(&resolved);
    asked = known != nullptr ? std::move(*known) : steps.resolve(point);
    return steps.simulate(asked);
  } catch (const UnfitScenario& error) {
    return refusal(error.scenario(), error.problems());
  } catch (const ScenarioError& error) {
    return refusal(asked, error.problems());
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
      points[i].push_back({axis.path, axis.values[i / repeat % axis.values.size()], axis.origin});
    }
  }
  return points;
}

std::size_t count_refused(std::span<const Report> reports) {
  return static_cast<std::size_t>(std::ranges::count_if(reports, is_refused));
}

SweepResult run_sweep(std::span<const Point> points, const SweepSteps& steps, const SweepOptions& options) {
  FinishedReports own;
  FinishedReports& finished = options.finished != nullptr ? *options.finished : own;
  finished.start(points.size());
  std::vector<ResolvedPoint> resolved = resolve(points, steps, options);
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(points.size(), options.jobs, options.stop, [&](std::size_t i) {
    Report report = report_of(points[i], std::exchange(resolved[i], {}), steps);
    if (!options.keep_layers) report.layers = {};
    finished.put(i, std::move(report));
    const std::scoped_lock lock(mutex);
    ++done;
    if (options.on_done) options.on_done(done, points.size());
  });
  SweepResult result;
  for (std::optional<Report>& report : finished.take()) {
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
