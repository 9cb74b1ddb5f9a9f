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
}
