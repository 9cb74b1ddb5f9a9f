// Folding is exact: ranks simulated once stand for all, to the picosecond.

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "execution/execute.hpp"
#include "parallel/build_plan.hpp"
#include "scenario/scenario.hpp"
#include "topology/cluster.hpp"

using namespace gpuscale;

namespace {

const Library& shipped() {
  static const Library library({GPUSCALE_SOURCE_DIR});
  return library;
}

struct Run {
  PlannedStep step;
  Time end;
};

Run run(const std::string& yaml, bool fold) {
  const Scenario scenario =
      ScenarioFile::parse(yaml, "test.yaml").resolve(shipped(), {{"strategy.fold", fold ? "true" : "false"}});
  const Cluster cluster = build_cluster(scenario.cluster, host_copies(scenario.job.framework.transport));
  Run result{.step = build_plan(scenario.job, scenario.cluster, cluster, &plan_time), .end = {}};
  result.end = execute(result.step.plan, cluster.topology).end;
  return result;
}

struct BothWays {
  Run folded;
  Run whole;
};

/// Folded and with every rank alone: both end at the same picosecond and send the same.
BothWays run_both_ways(const std::string& yaml) {
  BothWays runs{.folded = run(yaml, true), .whole = run(yaml, false)};
  CHECK(runs.folded.end == runs.whole.end);
  CHECK(runs.folded.step.sent_per_gpu == runs.whole.step.sent_per_gpu);
  return runs;
}

std::string scenario(const std::string& model, const std::string& batch, const std::string& cluster,
                     const std::string& strategy) {
  return "{workload: {model: " + model + ", batch: " + batch + ", precision: fp16, optimizer: adam}, cluster: {" +
         cluster + "}, strategy: {" + strategy + "}, framework: pytorch-ddp}";
}

constexpr const char* kOneBox = "machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 8";
constexpr const char* kTwoBoxes = "machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 16, nodes: 2, fabric: hdr-fat-tree";
constexpr const char* kEightBoxes = "machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 64, nodes: 8, fabric: hdr-fat-tree";

struct Case {
  const char* model;
  const char* batch;
  const char* cluster;
  const char* strategy;
  bool differ = false;  ///< two tensor groups of a box see rings of copies enter at one and leave at the other
};

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("unlike cards are unlike roles and alike ones still fold") {
    // By node, by slot, and both kinds in every tensor group.
    constexpr const char* kByNode =
        "machine: dgx-a100, gpu: {\"node[0-1]\": a100-sxm-80gb, \"node[2-3]\": a100-sxm-40gb}, gpus: 32, nodes: 4, "
        "fabric: hdr-fat-tree";
    constexpr const char* kBySlot =
        "machine: dgx-a100, gpu: {\"gpu[0-3]\": a100-sxm-80gb, \"gpu[4-7]\": a100-sxm-40gb}, gpus: 16, nodes: 2, "
        "fabric: hdr-fat-tree";
    struct Mixed {
      const char* model;
      const char* batch;
      const char* cluster;
      const char* strategy;
    };
    const std::vector<Mixed> cases = {
        {"resnet50", "32 per gpu", kByNode, ""},
        {"resnet50", "32 per gpu", kBySlot, ""},
        {"resnet50", "32 per gpu", kBySlot, "batch_split: proportional"},
        {"resnet50", "1000 global", kByNode, "batch_split: proportional"},
        {"resnet50", "32 per gpu", kBySlot, "exchange: {codec: int8}"},
        {"bert-large", "64 global", kByNode, "tensor: 8"},
        {"bert-large", "64 global", kBySlot, "tensor: 8"},
        {"gpt2", "64 global", kByNode, "tensor: 4, pipeline: {stages: 4, microbatches: 8}"},
        {"gpt2", "64 global", kBySlot, "pipeline: {stages: 2, microbatches: 8}"},
        {"gpt2", "64 global", kByNode, "zero: 3"},
        {"gpt2", "64 global", kBySlot, "zero: 3, shard_group: node"},
        {"gpt2", "64 global", kBySlot, "batch_split: proportional, zero: 2, pipeline: {microbatches: 2}"},
        {"gpt2", "64 global", kBySlot, "context: 4"},
        {"mixtral-8x7b", "64 global", kBySlot, "expert: 8"},
    };
    std::size_t fewest = 100;
    for (const Mixed& each : cases) {
      CAPTURE(each.cluster);
      CAPTURE(each.strategy);
      const std::string yaml = scenario(each.model, each.batch, each.cluster, each.strategy);
      const auto [folded, whole] = run_both_ways(yaml);
      CHECK(folded.step.kinds.size() >= 2);
      CHECK(folded.step.roles >= 2);
      fewest = std::min(fewest, folded.step.roles);
    }
    CHECK(fewest <= 4);
  }

  TEST_CASE("alike ranks whose partners are unlike are told apart") {
    constexpr const char* kOddLast =
        "machine: workstation-4x-pcie3-x8, gpu: [rtx-2080-ti, rtx-2080-ti, rtx-2080-ti, rtx-3080], gpus: 4";
    constexpr const char* kOddFirst =
        "machine: workstation-4x-pcie3-x8, gpu: [rtx-3080, rtx-2080-ti, rtx-2080-ti, rtx-2080-ti], gpus: 4";
    constexpr const char* kPairs =
        "machine: server-2x-pcie3-nic, gpu: [rtx-3080, rtx-2080-ti], gpus: 4, nodes: 2, fabric: fdr-infiniband";
    constexpr const char* kPairsAlike =
        "machine: server-2x-pcie3-nic, gpu: rtx-2080-ti, gpus: 6, nodes: 3, fabric: ethernet-10g";
    struct Odd {
      const char* cluster;
      const char* strategy;
      const char* model = "gpt2";
    };
    std::vector<Odd> cases = {{kPairs, "exchange: {algorithm: hierarchical}"},
                              {kPairsAlike, "exchange: {algorithm: hierarchical, codec: int4}"}};
    for (const char* strategy :
         {"tensor: 2", "context: 2", "pipeline: {stages: 2, microbatches: 2}", "zero: 1, tensor: 2"}) {
      cases.push_back({kOddLast, strategy});
      cases.push_back({kOddFirst, strategy});
    }
    cases.push_back({kOddLast, "model: {degree: 2}", "mlp"});
    cases.push_back({kOddFirst, "model: {degree: 2}", "mlp"});
    for (const Odd& each : cases) {
      CAPTURE(each.cluster);
      CAPTURE(each.strategy);
      const std::string yaml = scenario(each.model, "24 global", each.cluster, each.strategy);
      run_both_ways(yaml);
    }
  }

  TEST_CASE("a step that cannot be folded takes as long whether it was asked to be or not") {
    // Exchanges of one axis meet those of another on the slots of the cards, where their copies part.
    constexpr const char* kSlots = "machine: workstation-4x-pcie3-x8, gpu: v100-pcie, gpus: 4";
    constexpr const char* kNodes = "machine: aws-p3-16xlarge, gpu: v100-sxm2, gpus: 9, nodes: 3, fabric: edr-fat-tree";
    for (const std::string& yaml :
         {scenario("gpt2", "8 global", kSlots, "context: 2, exchange: {algorithm: tree, bucket: 1 MB}"),
          scenario("gpt2", "8 global", kSlots, "context: 2, exchange: {algorithm: parameter_server_gpu}"),
          scenario("gpt2", "8 global", kSlots, "context: 2, exchange: {schedule: priority}"),
          scenario("gpt2", "9 global", kNodes, "zero: 3"),
          scenario("gpt2", "9 global", kNodes, "exchange: {algorithm: halving_doubling}")}) {
      CAPTURE(yaml);
      run_both_ways(yaml);
    }
  }

  TEST_CASE("a folded step ends at the same picosecond as one with every rank") {
    const std::vector<Case> cases = {
        {"resnet50", "32 per gpu", kOneBox, "data: 8"},
        {"resnet50", "32 per gpu", kEightBoxes, "data: 64"},
        {"resnet50", "32 per gpu", kTwoBoxes, "exchange: {codec: int8}"},
        {"resnet50", "32 per gpu", kTwoBoxes, "exchange: {codec: one_bit}"},
        {"bert-large", "64 global", kTwoBoxes, "tensor: 8"},
        {"bert-base", "64 global", kTwoBoxes, "tensor: {degree: 4, sequence_parallel: true}", true},
        {"bert-base", "64 global", kTwoBoxes, "tensor: 2, pipeline: {stages: 4, microbatches: 8}"},
        {"bert-base", "64 global", kTwoBoxes, "tensor: {degree: 4, overlap: 0.5}", true},
        {"gpt2", "64 global", kTwoBoxes, "pipeline: {stages: 4, microbatches: 8, schedule: gpipe}"},
        {"gpt2", "64 global", kTwoBoxes, "pipeline: {stages: 2, microbatches: 8, schedule: zero_bubble}"},
        {"gpt2", "64 global", kTwoBoxes, "pipeline: {stages: 4, microbatches: 8, schedule: interleaved, chunks: 3}"},
        {"gpt2", "64 global", kTwoBoxes, "zero: 1"},
        {"gpt2", "64 global", kTwoBoxes, "tensor: 2, exchange: {delayed: true}", true},
        {"gpt2", "64 global", kTwoBoxes, "zero: 2"},
        {"gpt2", "64 global", kTwoBoxes, "zero: 3"},
        {"gpt2", "64 global", kTwoBoxes, "zero: 3, shard_group: node"},
        {"gpt2", "64 global", kTwoBoxes, "context: 4"},
        {"gpt2", "64 global", kTwoBoxes, "context: {degree: 4, method: all_to_all}"},
        {"gpt2", "64 global", kTwoBoxes, "recompute: full, tensor: 4, average_every: 2", true},
        {"mixtral-8x7b", "64 global", kTwoBoxes, "expert: 8"},
        {"gpt2", "256 global", kEightBoxes, "tensor: 4, pipeline: {stages: 4, microbatches: 4}, recompute: selective",
         true},
        {"alexnet", "128 per gpu", kOneBox, "model: {degree: 4, sub_batch: 128}"},
        {"alexnet", "128 per gpu", kOneBox, "model: {degree: 8, sub_batch: 128, update_each: true}"},
    };
    for (const Case& each : cases) {
      CAPTURE(each.model);
      CAPTURE(each.strategy);
      const std::string yaml = scenario(each.model, each.batch, each.cluster, each.strategy);
      const auto [folded, whole] = run_both_ways(yaml);
      if (!each.differ) CHECK(folded.step.roles == static_cast<std::size_t>(folded.step.grid.pipeline));
      CHECK(whole.step.roles == static_cast<std::size_t>(whole.step.grid.size()));
    }
  }

  TEST_CASE("ranks that compute beside unlike transfers are told apart") {
    // Outer rings of a hierarchical exchange end earlier on the socket of the adapter, and slow other ranks.
    for (const char* boxes : {"gpus: 16, nodes: 2, fabric: ethernet-10g", "gpus: 32, nodes: 4, fabric: edr-infiniband",
                              "gpus: 16, nodes: 2, fabric: ethernet-10g, peer_to_peer: false"}) {
      CAPTURE(boxes);
      run_both_ways(scenario("resnet50", "64 per gpu",
                             std::string("machine: server-8x-pcie4-dual-root, gpu: v100-pcie, ") + boxes,
                             "exchange: {algorithm: hierarchical}"));
    }
  }

  TEST_CASE("copies of the batch fold with the exchanges they share links with") {
    for (const char* strategy : {"data: 16", "pipeline: {stages: 2, microbatches: 8}"}) {
      CAPTURE(strategy);
      std::string yaml = scenario("gpt2", "64 global", kTwoBoxes, strategy);
      yaml.insert(yaml.size() - 1,
                  ", input: {bytes_per_sample: 4 kB, storage: 1 GB/s, copied_per_sample: 60 MB, "
                  "ram_per_sample: 50 MB}");
      const Run folded = run(yaml, true);
      CHECK(folded.end == run(yaml, false).end);
      CHECK(folded.step.roles == static_cast<std::size_t>(folded.step.grid.pipeline));
    }
  }

  TEST_CASE("ranks that are not alike are all simulated") {
    // Three of a box's eight cards and five of the other's: rings and shares of the network differ.
    const std::string yaml =
        scenario("resnet50", "32 per gpu",
                 "machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 12, nodes: 2, fabric: hdr-fat-tree", "");
    const Run folded = run(yaml, true);
    CHECK(folded.end == run(yaml, false).end);
    const Run server =
        run(scenario("resnet50", "32 per gpu", kOneBox, "exchange: {algorithm: parameter_server_gpu}"), true);
    CHECK(server.step.roles == 8);
  }
}
