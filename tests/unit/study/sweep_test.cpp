#include "study/sweep.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <optional>
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

/// The same; a point whose first value is so chosen has keys that do not go together.
SweepSteps unfit_where(const std::function<bool(int)>& unfit) {
  SweepSteps steps = echo();
  steps.resolve = [unfit](const Point& point) {
    Scenario scenario;
    scenario.settings = point;
    if (!unfit(std::stoi(point[0].value))) return scenario;
    const Problem own = {{"f.yaml", 1, 1}, point[0].value + " does not divide"};
    throw UnfitScenario({own, {{"f.yaml", 2, 1}, "too many"}}, scenario);
  };
  return steps;
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

  TEST_CASE("a point that fails under way is refused and the others run") {
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
      REQUIRE(result.reports.size() == 200);
      CHECK(result.reports[5].problem == "no route");
      CHECK(result.reports[5].settings == std::vector<std::pair<std::string, std::string>>{{"n", "5"}});
      CHECK(result.reports[6].problem == "");
      CHECK(count_refused(result.reports) == 2);
      CHECK_FALSE(result.interrupted);
    }
  }

  TEST_CASE("keys that do not go together refuse a point and not the sweep") {
    const std::vector<SweepAxis> axes = {numbers(10)};
    const SweepResult result = run_sweep(expand(axes), unfit_where([](int n) { return n % 4 == 3; }), {.jobs = 2});
    REQUIRE(result.reports.size() == 10);
    CHECK(count_refused(result.reports) == 2);
    CHECK(result.reports[3].problem == "3 does not divide (and 1 more)");
    CHECK(result.reports[7].problem == "7 does not divide (and 1 more)");
    CHECK(result.reports[2].scenario == "2");
  }

  TEST_CASE("a sweep whose points are all refused ends with every reason") {
    const std::vector<SweepAxis> axes = {numbers(2)};
    try {
      run_sweep(expand(axes), unfit_where([](int) { return true; }), {});
      FAIL("no error");
    } catch (const ScenarioError& error) {
      CHECK(texts(error.problems()) ==
            std::vector<std::string>{"0 does not divide (at n=0)", "1 does not divide (at n=1)", "too many"});
    }
  }

  TEST_CASE("a large sweep refused for one reason at every value ends before the first is simulated") {
    const std::vector<SweepAxis> axes = {numbers(60), {"m", numbers(60).values}};
    CHECK_THROWS_AS(run_sweep(expand(axes), unfit_where([](int) { return true; }), {}), ScenarioError);
    const SweepResult result = run_sweep(expand(axes), unfit_where([](int n) { return n > 0; }), {});
    CHECK(result.reports.size() == 3600);
    CHECK(count_refused(result.reports) == 3540);
  }

  TEST_CASE("a mistake in one point counts more than what other points are refused for") {
    SweepSteps steps = unfit_where([](int n) { return n == 1; });
    const auto resolve = steps.resolve;
    steps.resolve = [&](const Point& point) {
      if (point[0].value == "2") throw ScenarioError({{{"--sweep n", 0, 0}, "not a number"}});
      return resolve(point);
    };
    const std::vector<SweepAxis> axes = {numbers(5)};
    CHECK_THROWS_WITH_AS(run_sweep(expand(axes), steps, {}), "--sweep n: error: not a number (at n=2)", ScenarioError);
  }

  TEST_CASE("reports can be taken while others are under way") {
    FinishedReports finished;
    std::vector<std::optional<Report>> taken;
    const std::vector<SweepAxis> axes = {numbers(10)};
    const SweepOptions options{.on_done =
                                   [&](std::size_t done, std::size_t) {
                                     if (done == 4) taken = finished.take();
                                   },
                               .finished = &finished};
    CHECK(run_sweep(expand(axes), echo(), options).reports.empty());
    REQUIRE(taken.size() == 10);
    CHECK(taken[3]->scenario == "3");
    CHECK_FALSE(taken[4].has_value());
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
