#include "memory/footprint.hpp"

#include <doctest/doctest.h>

using namespace gpuscale;

namespace {

/// One layer of a million parameters that keeps 100 MB and outputs 20 MB for a batch of 10.
ModelWork work_of_ten() {
  LayerWork layer;
  layer.parameters.push_back({.name = "weight", .count = 1'000'000, .gradient_count = 1'000'000});
  layer.saved = 100_MB;
  layer.output = 20_MB;
  layer.workspace = 5_MB;
  ModelWork work;
  work.batch = 10;
  work.input = 1_MB;
  work.layers.push_back(layer);
  return work;
}

/// Two Transformer blocks of 2.5 million parameters and a head of half as many; tensors between them have 10 MB.
ModelWork two_blocks_and_a_head() {
  LayerWork block;
  block.kind = "self_attention";
  block.parameters.push_back({.name = "weight", .count = 2'500'000, .gradient_count = 2'500'000});
  block.saved = 100_MB;
  block.kept_by_alternate = 30_MB;
  block.boundary = 10_MB;
  LayerWork head;
  head.kind = "linear";
  head.parameters.push_back({.name = "weight", .count = 1'250'000, .gradient_count = 1'250'000});
  head.saved = 50_MB;
  head.boundary = 10_MB;
  ModelWork work;
  work.batch = 10;
  work.input = 1_MB;
  work.layers = {block, block, head};
  return work;
}

const std::vector<HeldLayers> kBlocks = {{.first = 0, .last = 3}};
const std::vector<std::size_t> kUnits = {0, 1, 2};

const std::vector<HeldLayers> kWhole = {{.first = 0, .last = 1}};

}  // namespace

TEST_SUITE("memory") {
  TEST_CASE("fp32 training with momentum keeps twelve bytes a parameter") {
    const Footprint of = footprint(work_of_ten(), kWhole, {.optimizer = Optimizer::sgd_momentum});
    CHECK(of.parameters + of.gradients + of.optimizer + of.master_weights == 12_MB);
    CHECK(of.activations == 110_MB);  // what the layer keeps and ten inputs
  }

  TEST_CASE("mixed precision with Adam keeps sixteen bytes a parameter") {
    // Rajbhandari et al. 2020, ZeRO (arXiv:1910.02054), section 3.1: 2 + 2 + 12 bytes.
    const Footprint of = footprint(work_of_ten(), kWhole, {.precision = Precision::fp16, .optimizer = Optimizer::adam});
    CHECK(of.parameters + of.gradients + of.optimizer + of.master_weights == 16_MB);
  }

  TEST_CASE("a server keeps the optimizer state for its workers") {
    CHECK(footprint(work_of_ten(), kWhole, {.optimizer_elsewhere = true}).optimizer == 0_B);
  }

  TEST_CASE("sub-batches keep their activations together") {
    const Footprint one = footprint(work_of_ten(), kWhole, {});
    const Footprint four = footprint(work_of_ten(), {{.first = 0, .last = 1, .alive = 4}}, {});
    CHECK(four.activations == one.activations * 4);
    CHECK(four.parameters == one.parameters);
  }

  TEST_CASE("recompute by operator keeps a block's input and every second product and all of what is in no block") {
    const Footprint of =
        footprint(two_blocks_and_a_head(), kBlocks, {.kept = Kept::every_second_product, .units = kUnits});
    CHECK(of.activations == 2.0 * (10_MB + 30_MB) + 50_MB + 10_MB);  // with ten inputs
    CHECK(of.workspace == 100_MB);                                   // one block while it is made again
  }

  TEST_CASE("full recompute keeps the inputs of blocks and makes nothing again that is in no block") {
    const Footprint of = footprint(two_blocks_and_a_head(), kBlocks, {.kept = Kept::unit_inputs, .units = kUnits});
    CHECK(of.activations == 3.0 * 10_MB + 10_MB);
    CHECK(of.workspace == 100_MB + 40_MB);
  }

  TEST_CASE("sharded parameters are gathered two blocks at a time and those of no block stay") {
    MemoryOptions options{.parameter_share = 1.0 / 8.0, .units = kUnits};
    const Footprint of = footprint(two_blocks_and_a_head(), kBlocks, options);
    CHECK(of.parameters == 25_MB * (1.0 / 8.0) + 2.0 * 10_MB + 5_MB);  // sharded, two blocks, the head
    options.copies_gathered = true;
    CHECK(footprint(two_blocks_and_a_head(), kBlocks, options).exchange == 20_MB);  // where two blocks arrive
  }

  TEST_CASE("scores that a pipeline returns stay beside the activations") {
    const Footprint without = footprint(work_of_ten(), kWhole, {});
    CHECK(footprint(work_of_ten(), kWhole, {.returned_scores = 7_MB}).activations == without.activations + 7_MB);
  }
}
