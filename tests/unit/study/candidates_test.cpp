#include "study/candidates.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace gpuscale;

namespace {

std::optional<Candidates> candidates(const std::string& model, const std::string& batch, int nodes,
                                     const std::string& more = "") {
  const Library library({GPUSCALE_SOURCE_DIR});
  const std::string yaml = "{workload: {model: " + model + ", batch: " + batch +
                           ", precision: bf16, optimizer: adam}, cluster: {machine: "
                           "dgx-a100, gpu: a100-sxm-80gb, gpus: " +
                           std::to_string(8 * nodes) + ", nodes: " + std::to_string(nodes) +
                           (nodes > 1 ? ", fabric: hdr-fat-tree" : "") + "}, framework: megatron-core" + more + "}";
  return large_model_candidates(ScenarioFile::parse(yaml, "test.yaml"), library, {});
}

const Scenario* find(const Candidates& all, std::string_view name) {
  const auto found = std::ranges::find(all.scenarios, name, &NamedScenario::name);
  return found == all.scenarios.end() ? nullptr : &found->scenario;
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("nets that one GPU trains are compared as usual") {
    CHECK_FALSE(candidates("resnet50", "64 per gpu", 1).has_value());
    CHECK_FALSE(candidates("gpt2", "64 global", 1).has_value());
  }

  TEST_CASE("a Transformer that is too large is split every way that holds its state") {
    // 13e9 parameters of 16 bytes or more: 208 GB, at least three cards of 80 GB.
    const std::optional<Candidates> all = candidates("gpt3-13b", "64 global", 2);
    REQUIRE(all.has_value());
    CHECK(find(*all, "tensor2") == nullptr);
    for (const char* name : {"as written", "tensor8", "tensor8+pipeline2", "tensor4+pipeline4", "pipeline8", "zero3",
                             "zero3+node", "tensor8+zero3", "tensor2+zero1"}) {
      CAPTURE(name);
      CHECK(find(*all, name) != nullptr);
    }
    REQUIRE(find(*all, "tensor8+pipeline2") != nullptr);
    CHECK(find(*all, "tensor8+pipeline2")->job.parallel.pipeline.micro_batch == 1);
    CHECK(find(*all, "zero3+node")->job.parallel.shard.within_node);
    CHECK(all->notes.front().find("ways to split the model tried") != std::string::npos);
  }

  TEST_CASE("tensor groups stay within a box and stages are of equal blocks") {
    const std::optional<Candidates> all = candidates("gpt3-13b", "64 global", 4);
    REQUIRE(all.has_value());
    for (const NamedScenario& way : all->scenarios) {
      CAPTURE(way.name);
      CHECK(way.scenario.job.parallel.tensor.degree <= 8);
      CHECK(40 % way.scenario.job.parallel.pipeline.stages == 0);
    }
  }

  TEST_CASE("a scenario's own microbatches are kept") {
    const std::optional<Candidates> all =
        candidates("gpt3-13b", "64 global", 2, ", strategy: {tensor: 8, pipeline: {stages: 2, microbatches: 32}}");
    REQUIRE(all.has_value());
    CHECK(find(*all, "tensor4+pipeline4")->job.parallel.pipeline.micro_batch == 2);
  }
}
