#include <doctest/doctest.h>
#include <fmt/format.h>

#include "study/simulate.hpp"

using namespace gpuscale;

namespace {

Report quickstart_with(const std::string& batch) {
  const Library library({GPUSCALE_SOURCE_DIR});
  return simulate(load_scenario(std::string(GPUSCALE_SOURCE_DIR) + "/workloads/scenarios/quickstart.yaml", library,
                                {{"workload.batch", batch + " per gpu"}}));
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("the largest batch fits and one sample more does not whatever batch was asked") {
    const double largest = quickstart_with("64").memory.largest_batch_per_gpu;
    for (const char* batch : {"1", "16", "200"}) {
      CAPTURE(batch);
      CHECK(quickstart_with(batch).memory.largest_batch_per_gpu == largest);
    }
    CHECK(quickstart_with(fmt::format("{:.0f}", largest)).memory.fits);
    CHECK_FALSE(quickstart_with(fmt::format("{:.0f}", largest + 1)).memory.fits);
  }

  TEST_CASE("a measurement that no card of the kind can have made is refused") {
    const Library library({GPUSCALE_SOURCE_DIR});
    const ScenarioFile file =
        ScenarioFile::open(std::string(GPUSCALE_SOURCE_DIR) + "/workloads/scenarios/quickstart.yaml");
    const Scenario fast = file.resolve(library, {{"workload.calibrate", "{throughput_1gpu: 20000 /s}"}});
    CHECK_THROWS_AS(simulate(fast), ScenarioError);
    const Scenario real =
        file.resolve(library, {{"workload.calibrate", "{throughput_1gpu: 150 /s}"}, {"cluster.gpus", "1"}});
    CHECK(simulate(real).throughput == doctest::Approx(150).epsilon(1e-6));
  }

  TEST_CASE("a step beyond simulated time is the user's problem and not ours") {
    const Library library({GPUSCALE_SOURCE_DIR});
    const ScenarioFile file =
        ScenarioFile::open(std::string(GPUSCALE_SOURCE_DIR) + "/workloads/scenarios/quickstart.yaml");
    const std::vector<Setting> endless = {{"workload.batch", "1000000000 per gpu"}, {"workload.model", "resnet152"}};
    CHECK_THROWS_AS(simulate(file.resolve(library, endless)), ScenarioError);
  }
}
