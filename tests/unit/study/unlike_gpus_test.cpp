// Jobs on GPUs of several kinds, as a whole.

#include <doctest/doctest.h>
#include <sstream>
#include <string>

#include "report/json.hpp"
#include "report/text.hpp"
#include "scenario/hardware.hpp"
#include "study/simulate.hpp"
#include "study/topology_report.hpp"
#include "study/topology_tables.hpp"
#include "topology/cluster.hpp"

using namespace gpuscale;

namespace {

const Library& shipped() {
  static const Library library({GPUSCALE_SOURCE_DIR});
  return library;
}

struct Asked {
  std::string gpu = "[rtx-3090, gtx-1080]";
  std::string machine = "desktop-2x-pcie3-x8";
  int gpus = 2;
  std::string strategy = "{}";
  std::string batch = "32 per gpu";
  std::string more = {};  ///< keys of the cluster
};

Scenario scenario_of(const Asked& asked) {
  return ScenarioFile::parse("{name: unlike, workload: {model: resnet50, batch: " + asked.batch +
                                 "}, cluster: {machine: " + asked.machine + ", gpu: " + asked.gpu +
                                 ", gpus: " + std::to_string(asked.gpus) + asked.more +
                                 "}, strategy: " + asked.strategy + ", framework: pytorch-ddp}",
                             "unlike.yaml")
      .resolve(shipped(), {});
}

Report run(const Asked& asked) { return simulate(scenario_of(asked)); }

/// All but the data files that were read, which may be of cards that no rank has.
std::string json_of(Report report) {
  report.provenance.clear();
  std::ostringstream text;
  write_json(text, std::span(&report, 1));
  return text.str();
}

Report alone(const std::string& gpu) { return run({.gpu = gpu, .gpus = 1}); }

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("like cards written as a list or a map are the card to the last bit") {
    const std::string workstation = "workstation-4x-pcie3-x8";
    const std::string one = json_of(run({.gpu = "gtx-1080-ti", .machine = workstation, .gpus = 4}));
    for (const char* gpu : {"[gtx-1080-ti, gtx-1080-ti, gtx-1080-ti, gtx-1080-ti]", "{\"gpu[0-3]\": gtx-1080-ti}",
                            "{node0: gtx-1080-ti}", "{node0: [gtx-1080-ti, gtx-1080-ti, gtx-1080-ti, gtx-1080-ti]}"}) {
      CAPTURE(gpu);
      CHECK(json_of(run({.gpu = gpu, .machine = workstation, .gpus = 4})) == one);
    }
  }

  TEST_CASE("a card that no rank has changes nothing") {
    CHECK(json_of(run({.gpus = 1})) == json_of(alone("rtx-3090")));
    CHECK(json_of(run({.gpu = "[gtx-1080, rtx-3090]", .gpus = 1})) == json_of(alone("gtx-1080")));
  }

  TEST_CASE("a list by rank and a list by slot are the same where they name the same cards") {
    const std::string workstation = "workstation-4x-pcie3-x8";
    const Report by_rank = run({.gpu = "[rtx-3090, gtx-1080]", .machine = workstation});
    const Report by_slot = run({.gpu = "[rtx-3090, gtx-1080, k40, k40]", .machine = workstation});
    CHECK(json_of(by_rank) == json_of(by_slot));
  }

  TEST_CASE("with even batches the slower card sets the pace") {
    const Report mixed = run({});
    const Report slow = run({.gpu = "gtx-1080"});
    const Report fast = run({.gpu = "rtx-3090"});
    CHECK(mixed.gpu == "1x GeForce RTX 3090 + 1x GeForce GTX 1080");
    CHECK(mixed.step_time.count() == doctest::Approx(slow.step_time.count()).epsilon(0.05));
    CHECK(mixed.step_time > fast.step_time);
    REQUIRE(mixed.cards.size() == 2);
    CHECK(mixed.cards[0].most_batch == 32);
    CHECK(mixed.cards[1].most_batch == 32);
    CHECK(mixed.cards[0].compute < mixed.cards[1].compute);
  }

  TEST_CASE("batches in proportion to speed come near to the sum of the speeds") {
    const Report shared = run({.strategy = "{batch_split: proportional}"});
    const double sum = alone("rtx-3090").throughput + alone("gtx-1080").throughput;
    CHECK(shared.global_batch == 64);
    REQUIRE(shared.cards.size() == 2);
    CHECK(shared.cards[0].most_batch + shared.cards[1].most_batch == 64);
    CHECK(shared.cards[0].most_batch > 2 * shared.cards[1].most_batch);
    CHECK(shared.throughput > 0.85 * sum);
    CHECK(shared.throughput < 1.02 * sum);
    CHECK(shared.throughput > 1.4 * run({}).throughput);
  }

  TEST_CASE("speed-up is against the fastest card and efficiency against all of them alone") {
    const Report fast = alone("rtx-3090");
    const Report slow = alone("gtx-1080");
    for (const char* gpu : {"[rtx-3090, gtx-1080]", "[gtx-1080, rtx-3090]"}) {
      CAPTURE(gpu);
      const Report mixed = run({.gpu = gpu});
      CHECK(*mixed.speedup == doctest::Approx(mixed.throughput / fast.throughput).epsilon(1e-12));
      CHECK(*mixed.efficiency ==
            doctest::Approx(mixed.throughput / (fast.throughput + slow.throughput)).epsilon(1e-12));
      CHECK(mixed.baseline.starts_with("one GeForce RTX 3090 with the batch of one GPU"));
    }
  }

  TEST_CASE("utilisation is of the peaks of all cards") {
    const Report mixed = run({});
    const Report fast = alone("rtx-3090");
    // The same FLOP a GPU: 35.58 of the RTX 3090 and 8.87 TFLOP/s of the GTX 1080.
    const double expected =
        *fast.model_flop_utilisation * 2.0 * 35.58 / (35.58 + 8.87) * (fast.step_time / mixed.step_time);
    CHECK(*mixed.model_flop_utilisation == doctest::Approx(expected).epsilon(1e-9));
  }

  TEST_CASE("the card with least room left decides what fits") {
    // 96 samples of ResNet-50 fill some 9 GiB: less than 24, more than 8.
    const Report report = run({.batch = "96 per gpu"});
    CHECK_FALSE(report.memory.fits);
    CHECK(report.memory.capacity == 8_GiB);
    REQUIRE(report.cards.size() == 2);
    CHECK(report.cards[0].fits);
    CHECK_FALSE(report.cards[1].fits);
    CHECK(report.memory.largest_batch_per_gpu == run({.gpu = "gtx-1080"}).memory.largest_batch_per_gpu);
    // In proportion to speed the small card holds less.
    CHECK(run({.strategy = "{batch_split: proportional}", .batch = "96 per gpu"}).memory.fits);
  }

  TEST_CASE("independent jobs go each at its own pace") {
    const Report mixed = run({.strategy = "{independent: true}"});
    const double sum = alone("rtx-3090").throughput + alone("gtx-1080").throughput;
    CHECK(mixed.throughput == doctest::Approx(sum).epsilon(1e-6));
    CHECK(mixed.step_time.count() == doctest::Approx(alone("gtx-1080").step_time.count()).epsilon(1e-9));
    CHECK(*mixed.efficiency == doctest::Approx(1.0).epsilon(1e-6));
    CHECK(*mixed.model_flop_utilisation < 1.0);
  }

  TEST_CASE("every strategy runs on unlike cards") {
    const std::string four = "[rtx-3090, gtx-1080, rtx-3090, gtx-1080]";
    for (const char* strategy :
         {"{zero: 1}", "{zero: 2}", "{zero: 3}", "{exchange: {algorithm: parameter_server_cpu}}",
          "{exchange: {algorithm: parameter_server_gpu}}", "{exchange: {algorithm: gather}}",
          "{exchange: {codec: int8}}", "{exchange: {codec: low_rank}}", "{exchange: {delayed: true}}",
          "{pipeline: {stages: 2, microbatches: 8}}", "{model: 2}",
          "{pipeline: {stages: 2, microbatches: 8, schedule: zero_bubble}}", "{average_every: 4}",
          "{offload_optimizer: true}", "{batch_split: proportional, zero: 3}",
          "{batch_split: proportional, exchange: {algorithm: parameter_server_cpu}}"}) {
      CAPTURE(strategy);
      const Asked asked{.gpu = four, .machine = "workstation-4x-pcie3-x8", .gpus = 4, .strategy = strategy};
      const Report mixed = run(asked);
      Asked fast = asked;
      fast.gpu = "rtx-3090";
      CHECK(mixed.throughput < run(fast).throughput);
      CHECK(mixed.cards.size() == 2);
      CHECK(mixed.cards[0].gpus == 2);
    }
  }

  TEST_CASE("the clock of each card follows its own power") {
    // 200 W are more than the GTX 1080 takes and less than the RTX 3090 does.
    const Report limited = run({.strategy = "{batch_split: proportional}", .more = ", power_limit: 200 W"});
    const Report whole = run({.strategy = "{batch_split: proportional}"});
    CHECK(limited.throughput < whole.throughput);
    CHECK(limited.cards[1].most_batch > whole.cards[1].most_batch);
    const Report slow = run({.gpu = "gtx-1080"});
    CHECK(run({.more = ", power_limit: 200 W"}).step_time.count() ==
          doctest::Approx(run({}).step_time.count()).epsilon(1e-9));  // still as slow as the GTX 1080
    CHECK(run({.more = ", cooling: open_air"}).step_time > slow.step_time * 0.9);
  }

  TEST_CASE("reports have a row for each kind of GPU") {
    const Report report = run({});
    const std::string json = json_of(report);
    CHECK(json.find("\"gpu_kinds\"") != std::string::npos);
    CHECK(json.find("\"memory_capacity_bytes\": 8589934592") != std::string::npos);
    CHECK(json_of(alone("rtx-3090")).find("gpu_kinds") == std::string::npos);
    std::ostringstream text;
    write_text(text, report, {});
    CHECK(text.str().find("1x GeForce RTX 3090 + 1x GeForce GTX 1080\n") != std::string::npos);
    CHECK(text.str().find("\nKinds of GPUs\n") != std::string::npos);
    CHECK(text.str().find("; the others wait for the GeForce GTX 1080") != std::string::npos);
  }

  TEST_CASE("a transfer goes from the first card to the second whatever they are") {
    const Scenario copy = ScenarioFile::parse(
                              "{workload: {transfer: {numbers: 1000000}}, cluster: {machine: "
                              "desktop-2x-pcie3-x8, gpu: [k40, gtx-1080], gpus: 2}, framework: "
                              "pytorch-ddp}",
                              "copy.yaml")
                              .resolve(shipped(), {});
    const Report report = simulate(copy);
    CHECK(report.unlike_gpus);
    CHECK(report.cards.empty());
    CHECK(report.step_time.count() > 4e6 / 7.88e9);  // no faster than eight lanes
  }

  TEST_CASE("a machine with unlike cards tells which is which") {
    const Hardware hardware = load_hardware(
        std::nullopt, {{"cluster.machine", "desktop-2x-pcie3-x8"}, {"cluster.gpu", "[rtx-3090, gtx-1080]"}}, {},
        shipped());
    const TopologyReport report = describe(hardware, build_cluster(hardware.cluster));
    REQUIRE(report.gpus.size() == 2);
    CHECK(report.gpus[1].card == "gtx-1080");
    CHECK(topology_head(report)[1] == "1x rtx-3090 + 1x gtx-1080, some of which may copy to each other over PCIe");
  }
}
