#include "study/simulate.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace gpuscale;

namespace {

Scenario quickstart_with(const std::vector<Setting>& settings) {
  const Library library({GPUSCALE_SOURCE_DIR});
  return load_scenario(std::string(GPUSCALE_SOURCE_DIR) + "/workloads/scenarios/quickstart.yaml", library, settings);
}

Report with_input(const std::string& input) { return simulate_step(quickstart_with({{"input", input}})); }

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("a step without the run on one GPU is the same step without a speed-up") {
    const Scenario scenario = quickstart_with({});
    const Report whole = simulate(scenario);
    const Report step = simulate_step(scenario);
    CHECK(step.step_time == whole.step_time);
    CHECK_FALSE(step.speedup.has_value());
    CHECK(whole.speedup.has_value());
  }

  TEST_CASE("the one GPU that a speed-up is against has no parameter server") {
    const std::vector<Setting> served = {{"framework", "tensorflow-parameter-server"}};
    std::vector<Setting> alone = served;
    alone.push_back({"cluster.gpus", "1"});
    alone.push_back({"strategy.exchange.algorithm", "parameter_server_gpu"});  // of one GPU nothing travels
    const Report all = simulate(quickstart_with(served));
    CHECK(*all.speedup ==
          doctest::Approx(all.throughput / simulate_step(quickstart_with(alone)).throughput).epsilon(1e-12));
  }

  TEST_CASE("a job with a codec is compared with the same job without one") {
    const Report plain = simulate(quickstart_with({}));
    const Report coded = simulate(quickstart_with({{"strategy.exchange.codec", "int8"}}));
    CHECK_FALSE(plain.codec_gain.has_value());
    REQUIRE(coded.codec_gain.has_value());
    CHECK(coded.codec_gain->codecs == "int8");
    CHECK(coded.codec_gain->step_time_without == plain.step_time);
    CHECK(coded.codec_gain->exchanging_without == plain.exchanging);
    CHECK(coded.exchanging < plain.exchanging);
    CHECK_FALSE(simulate_step(quickstart_with({{"strategy.exchange.codec", "int8"}})).codec_gain.has_value());
    CHECK_FALSE(simulate(quickstart_with({{"strategy.exchange.codec", "int8"}, {"cluster.gpus", "1"}})).codec_gain);
  }

  TEST_CASE("a way to exchange that the GPUs do not have is not claimed") {
    // No switch of a PCIe box adds up; a box alone has no boxes to go between.
    for (const char* asked : {"in_switch", "hierarchical", "torus"}) {
      CAPTURE(asked);
      const Report report = simulate_step(quickstart_with({{"strategy.exchange.algorithm", asked}}));
      const Report ring = simulate_step(quickstart_with({{"strategy.exchange.algorithm", "ring"}}));
      CHECK(report.step_time == ring.step_time);
      CHECK(report.strategy.find(std::string("ring (these GPUs have no ") + asked + ")") != std::string::npos);
    }
  }

  TEST_CASE("a job that waits for its input says so") {
    // 256 samples of 110 kB from 50 MB/s take 563 ms, the step alone about 320.
    for (const char* input :
         {"{bytes_per_sample: 110 kB, storage: 50 MB/s}", "{bytes_per_sample: 110 kB, shared_storage: 50 MB/s}",
          "{bytes_per_sample: 110 kB, decode_per_core: 50 /s, cores: 8}",
          "{bytes_per_sample: 110 kB, storage: 10 GB/s, copied_per_sample: 60 MB}",
          "{bytes_per_sample: 110 kB, storage: 10 GB/s, ram_per_sample: 200 MB}"}) {
      CAPTURE(input);
      const Report report = with_input(input);
      CHECK(report.limited_by.starts_with("the input pipeline"));
      CHECK(report.split.input.count() > 0);
    }
    CHECK(with_input("{bytes_per_sample: 110 kB, storage: 10 GB/s}").limited_by.starts_with("GPU compute"));
  }

  TEST_CASE("what is copied by default is the model's input in the precision of its activations") {
    // 3 x 224 x 224 values of four bytes a sample.
    const Report wide = with_input("{bytes_per_sample: 1 kB, storage: 10 GB/s}");
    const Report written = with_input("{bytes_per_sample: 1 kB, storage: 10 GB/s, copied_per_sample: 602112 B}");
    CHECK(wide.step_time == written.step_time);
    REQUIRE(!wide.links.empty());
    CHECK(wide.links.front().carried == written.links.front().carried);
  }

  TEST_CASE("a root complex carries each byte that passes it once") {
    // Of two cards each sends its 102,228,128 bytes of gradients to the other: half to be summed, half as sums.
    const std::string box =
        "{devices: {cpu0: {kind: cpu, peer_rate: 5 GB/s}, memory0: {kind: memory}, 'gpu[0-1]': {kind: gpu}}, links: "
        "[{between: [cpu0, memory0], type: ddr4-2666 x4}, {between: ['gpu[0-1]', cpu0], type: pcie-3 x8}]}";
    const Report report = simulate_step(quickstart_with({{"cluster.machine", box}, {"cluster.gpus", "2"}}));
    const auto found = std::ranges::find_if(
        report.links, [](const LinkLoad& link) { return link.name.find("root complex") != std::string::npos; });
    REQUIRE(found != report.links.end());
    CHECK(found->carried.count() == doctest::Approx(2 * 25557032 * 4.0).epsilon(1e-6));
    CHECK(found->load == doctest::Approx(found->carried.count() / 5e9 / report.step_time.count()).epsilon(1e-6));
  }

  TEST_CASE("ranks that work in step compute as long as the slowest is expected to, and are said to wait for it") {
    // The largest of four standard normal numbers is 1.029375 on average (hardware/spread.hpp).
    const Report alike = simulate_step(quickstart_with({{"cluster.spread", "0"}}));
    const Report unlike = simulate_step(quickstart_with({{"cluster.spread", "0.02"}}));
    const double slowest = 1.02 + 0.02 * 0.029375;
    CHECK(alike.split.jitter.count() == 0.0);
    CHECK(unlike.split.compute / alike.split.compute == doctest::Approx(1.0).epsilon(1e-6));
    CHECK(unlike.split.host / alike.split.host == doctest::Approx(1.0).epsilon(1e-6));
    const auto own = [](const StepSplit& split) { return split.compute + split.host + split.jitter; };
    CHECK(own(unlike.split) / own(alike.split) == doctest::Approx(slowest).epsilon(1e-6));
    // Exchanges that wait for a later backward pass are hidden as before.
    CHECK(unlike.step_time / alike.step_time == doctest::Approx(slowest).epsilon(1e-3));
  }

  TEST_CASE("one GPU alone is an average one, and workers that wait for nobody are too") {
    for (const std::vector<Setting>& settings :
         {std::vector<Setting>{{"cluster.gpus", "1"}}, std::vector<Setting>{{"strategy.independent", "true"}}}) {
      std::vector<Setting> spread = settings;
      spread.emplace_back("cluster.spread", "0.1");
      const Report unlike = simulate(quickstart_with(spread));
      CHECK(unlike.step_time == simulate(quickstart_with(settings)).step_time);
      CHECK(unlike.split.jitter.count() == 0.0);
      CHECK(*unlike.efficiency == doctest::Approx(1.0).epsilon(1e-9));
    }
  }

  TEST_CASE("jobs of their own are fed each by its own interpreter, as one job alone is") {
    const Report alone = simulate_step(quickstart_with({{"framework", "keras-multi-gpu"}, {"cluster.gpus", "1"}}));
    const Report four = simulate(quickstart_with({{"framework", "keras-multi-gpu"}, {"strategy.independent", "true"}}));
    CHECK(alone.split.input.count() > 0.0);
    CHECK(four.split.input / alone.split.input == doctest::Approx(1.0).epsilon(0.05));
    CHECK(*four.efficiency <= 1.0);
  }

  TEST_CASE("chips of one fixed clock have no slowest") {
    const Report tpu = simulate_step(quickstart_with({{"cluster.machine", "tpu-v3-board"}, {"cluster.gpu", "tpu-v3"}}));
    CHECK(tpu.split.jitter.count() == 0.0);
  }

  TEST_CASE("a measured throughput is worked into a scenario and then simulates the same") {
    const Scenario measured = quickstart_with({{"workload.calibrate", "{throughput_1gpu: 150 /s}"}});
    const Scenario worked_in = calibrated(measured);
    CHECK_FALSE(worked_in.job.calibrated_throughput.has_value());
    CHECK(simulate_step(worked_in).step_time == simulate_step(measured).step_time);
  }
}
