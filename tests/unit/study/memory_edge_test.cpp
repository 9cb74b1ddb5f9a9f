#include <doctest/doctest.h>
#include <fmt/format.h>

#include "study/simulate.hpp"

using namespace gpuscale;

namespace {

Scenario quickstart(const std::string& batch, std::vector<Setting> settings = {}) {
  const Library library({GPUSCALE_SOURCE_DIR});
  settings.push_back({"workload.batch", batch + " per gpu"});
  return load_scenario(std::string(GPUSCALE_SOURCE_DIR) + "/workloads/scenarios/quickstart.yaml", library, settings);
}

Report quickstart_with(const std::string& batch) { return simulate(quickstart(batch)); }

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

  TEST_CASE("where memory is short convolutions take slower algorithms as if the framework allowed no more") {
    const std::vector<Setting> one = {{"cluster.gpus", "1"}};
    const std::string largest = fmt::format("{:.0f}", simulate(quickstart("64", one)).memory.largest_batch_per_gpu);
    const Scenario scenario = quickstart(largest, one);
    const Report tight = simulate(scenario);
    REQUIRE(tight.memory.fits);
    REQUIRE(tight.memory.short_of_workspace);
    CHECK(tight.memory.footprint.workspace <= tight.memory.room_for_workspace);
    Scenario limited = scenario;
    limited.job.framework.convolution.workspace = tight.memory.room_for_workspace;
    const Report asked = simulate(limited);
    CHECK(asked.step_time == tight.step_time);
    CHECK_FALSE(asked.memory.short_of_workspace);
    // On a card with the same rates and twice the memory the job takes the algorithms that it wants.
    Scenario roomy = scenario;
    roomy.cluster.gpu.memory_size = 2.0 * scenario.cluster.gpu.memory_size;
    const Report free = simulate(roomy);
    CHECK(free.step_time < tight.step_time);
    CHECK(free.memory.footprint.workspace > tight.memory.room_for_workspace);
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
