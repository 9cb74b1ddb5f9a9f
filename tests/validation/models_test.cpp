// Every shipped model has the parameters and the FLOP that were published for it. The sources stand in the
// model files and are printed with the errors.

#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "scenario/scenario.hpp"
#include "workload/lower.hpp"

using namespace gpuscale;

namespace {

ModelSpec shipped_model(const Library& library, const std::string& name) {
  const std::string text = fmt::format(
      "workload: {{model: {}, batch: 1 per gpu}}\n"
      "cluster: {{machine: desktop-2x-pcie3-x16, gpu: gtx-1080-ti, gpus: 1}}\n"
      "framework: pytorch-ddp\n",
      name);
  return ScenarioFile::parse(text, name + " in a scenario").resolve(library, {}).job.model;
}

double percent(double ours, double published) { return 100.0 * (ours / published - 1.0); }

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("shipped models have their published parameters and FLOP within one percent") {
    const Library library({GPUSCALE_SOURCE_DIR});
    const std::vector<std::string> names = library.names("workloads/models");
    REQUIRE(names.size() >= 70);
    for (const std::string& name : names) {
      CAPTURE(name);
      const ModelSpec model = shipped_model(library, name);
      REQUIRE(model.published.has_value());
      CHECK_FALSE(model.published->source.empty());
      std::vector<Problem> problems;
      const ModelWork work = lower(model, {}, problems);
      REQUIRE(problems.empty());
      const double parameters = percent(parameter_count(work), model.published->parameters);
      CHECK(std::abs(parameters) <= 1.0);
      const bool has_flop = model.published->forward.count() > 0;
      const double forward =
          has_flop ? percent(forward_flop_per_sample(work).count(), model.published->forward.count()) : 0.0;
      CHECK(std::abs(forward) <= 1.0);
      fmt::print("  {:<16} {:>12.4g} parameters ({:+.2f} %), {:>9.4g} FLOP forward ({}): {}\n", name,
                 parameter_count(work), parameters, forward_flop_per_sample(work).count(),
                 has_flop ? fmt::format("{:+.2f} %", forward) : "none published", model.published->source);
    }
  }
}
