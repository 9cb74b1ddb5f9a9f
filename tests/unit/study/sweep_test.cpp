#include "study/sweep.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gpuscale;

namespace {

/// A scenario that is only its settings, and a report of them.
SweepSteps echo() {
  return {.resolve =
              [](const Point& point) {
                Scenario scenario;
                scenario.settings = point;
                return scenario;
              },
          .simulate =
              [](const Scenario& scenario) {
                Report report;
                for (const Setting& setting : scenario.settings) report.scenario += setting.value;
                return report;
              }};
}

std::vector<std::string> names(const SweepResult& result) {
  std::vector<std::string> names;
  for (const Report& report : result.reports) names.push_back(report.scenario);
  return names;
}

SweepAxis numbers(int count) {
  SweepAxis axis{"n", {}};
  for (int i = 0; i < count; ++i) axis.values.push_back(std::to_string(i));
  return axis;
}

std::vector<std::string> texts(const std::vector<Problem>& problems) {
  std::vector<std::string> texts;
  for (const Problem& problem : problems) texts.push_back(problem.text);
  return texts;
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("the first axis is the slowest") {
    const std::vector<SweepAxis> axes = {{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}};
    const SweepResult result = run_sweep(expand(axes), echo(), {});
    CHECK(names(result) == std::vector<std::string>{"1x", "1y", "1z", "2x", "2y", "2z"});
    CHECK_FALSE(result.interrupted);
  }

  TEST_CASE("no axes make one point without settings") { CHECK(expand({}) == std::vector<Point>{Point{}}); }

  TEST_CASE("more than a million points are refused before they are made") {
    const std::vector<SweepAxis> million = {numbers(1000), numbers(1000)};
    CHECK(expand(million).size() == kMostPoints);
    const std::vector<SweepAxis> more(12, numbers(1001));
    CHECK_THROWS_WITH_AS(expand(more), "the sweep has more than 1000000 points; take values or axes out",
                         std::invalid_argument);
    const std::vector<SweepAxis> none = {numbers(0)};
    CHECK_THROWS_AS(expand(none), std::invalid_argument);
  }

  TEST_CASE("the result does not depend on the number of jobs") {
    const std::vector<SweepAxis> axes = {numbers(300)};
    const std::vector<Point> points = expand(axes);
    const std::vector<std::string> one = names(run_sweep(points, echo(), {.jobs = 1}));
    CHECK(one.size() == 300);
    for (const int jobs : {2, 4, 64}) {
      CAPTURE(jobs);
      CHECK(names(run_sweep(points, echo(), {.jobs = jobs})) == one);
    }
  }

  TEST_CASE("progress counts every point once") {
    std::vector<std::size_t> seen;
    const std::vector<SweepAxis> axes = {numbers(50)};
    run_sweep(expand(axes), echo(), {.jobs = 4, .on_done = [&](std::size_t done, std::size_t total) {
                                       CHECK(total == 50);
                                       seen.push_back(done);
                                     }});
    CHECK(seen.size() == 50);
    CHECK(seen.back() == 50);
  }

  TEST_CASE("an interrupted sweep keeps its finished points") {
    std::atomic<bool> stop = false;
    const std::vector<SweepAxis> axes = {numbers(100)};
    const SweepOptions options{
        .jobs = 1, .on_done = [&](std::size_t done, std::size_t) { stop = done == 3; }, .stop = &stop};
    const SweepResult result = run_sweep(expand(axes), echo(), options);
    CHECK(result.interrupted);
    CHECK(names(result) == std::vector<std::string>{"0", "1", "2"});
  }

  TEST_CASE("a mistake in any point ends the sweep before the first is simulated") {
    std::atomic<int> simulated = 0;
    SweepSteps steps = echo();
    steps.resolve = [](const Point& point) -> Scenario {
      std::vector<Problem> problems = {{{"f.yaml", 1, 1}, "bad everywhere"}};
      if (point[0].value == "3" || point[0].value == "7") problems.push_back({{"--set n", 0, 0}, "bad number"});
      throw ScenarioError(problems);
    };
    steps.simulate = [&](const Scenario&) {
      ++simulated;
      return Report();
    };
    const std::vector<SweepAxis> axes = {numbers(10)};
    try {
      run_sweep(expand(axes), steps, {.jobs = 4});
      FAIL("no error");
    } catch (const ScenarioError& error) {
      CHECK(texts(error.problems()) ==
            std::vector<std::string>{"bad everywhere", "bad number (at n=3, and at 1 more point)"});
    }
    CHECK(simulated == 0);
  }

  TEST_CASE("a point that fails under way ends the sweep and keeps those before it") {
    SweepSteps steps = echo();
    steps.simulate = [](const Scenario& scenario) {
      const std::string& value = scenario.settings[0].value;
      if (value == "5" || value == "8") throw ScenarioError({{{"f.yaml", 0, 0}, "no route"}});
      Report report;
      report.scenario = value;
      return report;
    };
    const std::vector<SweepAxis> axes = {numbers(200)};
    for (const int jobs : {1, 4}) {
      CAPTURE(jobs);
      const SweepResult result = run_sweep(expand(axes), steps, {.jobs = jobs});
      CHECK(texts(result.problems) == std::vector<std::string>{"no route (at n=5)"});
      CHECK(names(result) == std::vector<std::string>{"0", "1", "2", "3", "4"});
      CHECK_FALSE(result.interrupted);
    }
  }

  TEST_CASE("a large sweep checks its values first and reads its points one by one") {
    std::atomic<int> resolved = 0;
    SweepSteps steps = echo();
    steps.resolve = [&](const Point& point) {
      ++resolved;
      Scenario scenario;
      scenario.settings = point;
      return scenario;
    };
    const std::vector<SweepAxis> axes = {numbers(50), numbers(50)};
    const SweepResult result = run_sweep(expand(axes), steps, {.jobs = 2});
    CHECK(result.reports.size() == 2500);
    CHECK(result.reports.back().scenario == "4949");
    CHECK(resolved == 2500);
  }
}
