#include "study/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <sstream>

#include "study/scaled_hardware.hpp"
#include "study/sensitivity_output.hpp"
#include "study/simulate.hpp"

using namespace gpuscale;

namespace {

Scenario scenario_with(const std::vector<Setting>& settings) {
  const Library library({GPUSCALE_SOURCE_DIR});
  return load_scenario(std::string(GPUSCALE_SOURCE_DIR) + "/workloads/scenarios/quickstart.yaml", library, settings);
}

const FigureEffect* effect(const Sensitivity& sensitivity, std::string_view key) {
  const auto found = std::ranges::find(sensitivity.effects, key, &FigureEffect::key);
  return found == sensitivity.effects.end() ? nullptr : &*found;
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("what a transfer waits for is the link and nothing else") {
    Scenario scenario = scenario_with({{"workload", "{transfer: {numbers: 1000000000}}"}});
    const Sensitivity sensitivity = examine_sensitivity(scenario, 1);
    const FigureEffect* pcie = effect(sensitivity, "pcie_rate");
    REQUIRE(pcie != nullptr);
    CHECK(*pcie->elasticity == doctest::Approx(1.0).epsilon(1e-3));
    CHECK(pcie->worse == doctest::Approx(2.0).epsilon(1e-3));
    CHECK(&sensitivity.effects.front() == pcie);
    CHECK(*effect(sensitivity, "flops")->elasticity == doctest::Approx(0.0));
    CHECK(effect(sensitivity, "memory_bandwidth")->worse == doctest::Approx(1.0));
  }

  TEST_CASE("no figure is worth more than in proportion and none that is better slows the job") {
    for (const char* precision : {"fp32", "fp16"}) {
      CAPTURE(precision);
      const Sensitivity sensitivity = examine_sensitivity(
          scenario_with({{"workload.precision", precision}, {"cluster.gpu", "v100-pcie"}, {"cluster.gpus", "2"}}), 2);
      for (const FigureEffect& figure : sensitivity.effects) {
        CAPTURE(figure.key);
        if (figure.elasticity) CHECK(*figure.elasticity >= -0.01);
        if (figure.elasticity && !figure.removed) CHECK(*figure.elasticity <= 1.01);
        CHECK(figure.worse >= 0.99);
        if (!figure.removed) CHECK(figure.worse <= 2.02);
      }
    }
  }

  TEST_CASE("half a memory in which the job would not fit is told as such") {
    const Sensitivity tight = examine_sensitivity(scenario_with({{"workload.batch", "110 per gpu"}}), 1);
    CHECK(tight.report.memory.fits);
    CHECK_FALSE(effect(tight, "memory_size")->fits);
    CHECK(effect(tight, "memory_size")->sentence.ends_with("half as good: the job does not fit in memory"));
    CHECK(tight.verdict.ends_with("; with half the memory size the job does not fit in memory"));
    std::ostringstream text;
    write_text(text, tight);
    CHECK(text.str().find("does not fit\n") != std::string::npos);
    CHECK(effect(examine_sensitivity(scenario_with({{"workload.batch", "8 per gpu"}}), 1), "memory_size")->fits);
  }

  TEST_CASE("a gain is that of a figure ten percent better") {
    FigureEffect figure;
    figure.elasticity = 0.5;
    figure.worse = 1.005;
    CHECK(figure.gain() == doctest::Approx(std::sqrt(1.1) - 1.0).epsilon(1e-12));
    CHECK_FALSE(figure.matters());
  }

  TEST_CASE("effects stand in the order of what would be missed") {
    const Sensitivity sensitivity = examine_sensitivity(scenario_with({}), 1);
    CHECK(std::ranges::is_sorted(sensitivity.effects, std::ranges::greater(), &FigureEffect::worse));
    CHECK(sensitivity.verdict.starts_with("matters most first: " + sensitivity.effects.front().name));
  }

  TEST_CASE("matrix units and 16-bit numbers are figures only of jobs that use them") {
    const Sensitivity wide = examine_sensitivity(scenario_with({}), 1);
    CHECK(effect(wide, "matrix_units") == nullptr);
    CHECK(effect(wide, "sixteen_bit") == nullptr);
    const Sensitivity narrow =
        examine_sensitivity(scenario_with({{"workload.precision", "fp16"}, {"cluster.gpu", "v100-pcie"}}), 1);
    REQUIRE(effect(narrow, "matrix_units") != nullptr);
    CHECK(effect(narrow, "matrix_units")->removed);
    REQUIRE(effect(narrow, "sixteen_bit") != nullptr);
    // Twice the bytes cannot cost more than half the bandwidth of memory and links.
    CHECK(*effect(narrow, "sixteen_bit")->elasticity <= 1.0);
  }

  TEST_CASE("a calibration is worked in before figures change") {
    const Sensitivity sensitivity =
        examine_sensitivity(scenario_with({{"workload.calibrate", "{throughput_1gpu: 150 /s}"}}), 1);
    // If each variant were calibrated anew, the clock would change nothing.
    CHECK(*effect(sensitivity, "clock")->elasticity > 0.3);
  }

  TEST_CASE("the number of threads changes no figure") {
    const Scenario scenario = scenario_with({});
    const Sensitivity one = examine_sensitivity(scenario, 1);
    const Sensitivity four = examine_sensitivity(scenario, 4);
    REQUIRE(one.effects.size() == four.effects.size());
    for (std::size_t i = 0; i < one.effects.size(); ++i) {
      CHECK(one.effects[i].key == four.effects[i].key);
      CHECK(one.effects[i].worse == four.effects[i].worse);
    }
  }

  TEST_CASE("links of a kind are scaled and the others left") {
    Scenario scenario = scenario_with({});
    const std::vector<std::string> kinds = link_kinds(scenario.cluster);
    CHECK(std::ranges::find(kinds, "pcie") != kinds.end());
    ClusterSpec faster = scenario.cluster;
    scale_link_rates(faster, "pcie", 2.0);
    for (std::size_t i = 0; i < faster.machine.connections.size(); ++i) {
      const LinkType& before = scenario.cluster.machine.connections[i].type;
      const double factor = before.kind == "pcie" ? 2.0 : 1.0;
      CHECK(faster.machine.connections[i].type.lane_rate == before.lane_rate * factor);
    }
  }

  TEST_CASE("others on a link slow a transfer by what they take") {
    const std::vector<Setting> transfer = {{"workload", "{transfer: {numbers: 1000000000}}"}};
    std::vector<Setting> crowded = transfer;
    crowded.push_back({"cluster.background", "{pcie: 0.5}"});
    const double alone = simulate_step(scenario_with(transfer)).step_time.count();
    CHECK(simulate_step(scenario_with(crowded)).step_time.count() == doctest::Approx(2 * alone).epsilon(1e-3));
  }

  TEST_CASE("open-air cards side by side scale worse than blowers and their peak stays that on the box") {
    const Report cool = simulate(scenario_with({{"cluster.gpu", "rtx-2080-ti"}, {"cluster.cooling", "blower"}}));
    const Report hot = simulate(scenario_with({{"cluster.gpu", "rtx-2080-ti"}, {"cluster.cooling", "open_air"}}));
    CHECK(*hot.speedup < *cool.speedup);
    CHECK(*hot.model_flop_utilisation / *cool.model_flop_utilisation ==
          doctest::Approx(cool.step_time / hot.step_time).epsilon(1e-9));
    const Report by_card = simulate(scenario_with({{"cluster.gpu", "rtx-2080-ti"}, {"cluster.cooling", "{}"}}));
    CHECK(by_card.step_time == hot.step_time);  // the reference design has two fans
  }
}
