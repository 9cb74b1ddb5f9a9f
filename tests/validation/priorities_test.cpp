// The order in which figures of a card matter (T. Dettmers, Which GPU(s) to get for deep learning, April 2019):
// convolutional networks and Transformers: matrix units > FLOP/s > memory bandwidth > 16-bit numbers; recurrent
// networks: memory bandwidth > 16-bit numbers > matrix units > FLOP/s.
//
// The first order is of what would be missed: step time without matrix units; with half the FLOP/s of a card that has
// none; with half the bandwidth; with numbers of four bytes at the same arithmetic rate. The second is of elasticities:
// what a little more of each figure brings on a card as it is, which has matrix units.

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include "study/sensitivity.hpp"

using namespace gpuscale;

namespace {

/// What the four figures do to one GPU's job in 16 bits.
struct Priorities {
  FigureEffect matrix_units, flops_without, flops, memory_bandwidth, sixteen_bit;
};

Priorities priorities(const std::string& model, int batch, const std::string& gpu,
                      const std::string& framework = "pytorch-ddp") {
  static const Library library({GPUSCALE_SOURCE_DIR});
  static const ScenarioFile file = ScenarioFile::parse(
      "workload: {batch: 1 per gpu, precision: fp16}\n"
      "cluster: {machine: workstation-4x-pcie3-x8, gpus: 1}\n"
      "framework: pytorch-ddp\n",
      "priorities");
  const Sensitivity found =
      examine_sensitivity(file.resolve(library, {{"workload.model", model},
                                                 {"workload.batch", fmt::format("{} per gpu", batch)},
                                                 {"cluster.gpu", gpu},
                                                 {"framework", framework}}),
                          1);
  const auto of = [&](std::string_view key) { return *std::ranges::find(found.effects, key, &FigureEffect::key); };
  const Priorities all{of("matrix_units"), of("flops_without_matrix_units"), of("flops"), of("memory_bandwidth"),
                       of("sixteen_bit")};
  fmt::print(
      "  {:<12} {:<16} missed: matrix {:.2f} FLOP/s {:.2f} bandwidth {:.2f} 16-bit {:.2f}   elasticity: bandwidth "
      "{:.2f} "
      "16-bit {:.2f} matrix {:.2f} FLOP/s {:.2f}\n",
      gpu, model, all.matrix_units.worse, all.flops_without.worse, all.memory_bandwidth.worse, all.sixteen_bit.worse,
      *all.memory_bandwidth.elasticity, *all.sixteen_bit.elasticity, *all.matrix_units.elasticity,
      *all.flops.elasticity);
  return all;
}

bool in_order_of_loss(const Priorities& p) {
  return p.matrix_units.worse > p.flops_without.worse && p.flops_without.worse > p.memory_bandwidth.worse &&
         p.memory_bandwidth.worse > p.sixteen_bit.worse;
}

bool in_order_of_elasticity(const Priorities& p) {
  return *p.memory_bandwidth.elasticity > *p.sixteen_bit.elasticity &&
         *p.sixteen_bit.elasticity > *p.matrix_units.elasticity && *p.matrix_units.elasticity > *p.flops.elasticity;
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("convolutional networks would miss matrix units most and 16-bit numbers least") {
    // TensorFlow, whose tensors lie as matrix units want them; turning them, as PyTorch does, takes bandwidth.
    const std::string framework = "tensorflow-replicated-fused-norm";
    for (const char* gpu : {"v100-pcie", "titan-rtx", "rtx-2080-ti"}) {
      for (const char* model : {"resnet50", "resnet101", "inception-v3"}) {
        CAPTURE(gpu);
        CAPTURE(model);
        CHECK(in_order_of_loss(priorities(model, 64, gpu, framework)));
      }
    }
    // On a 2080 Ti, whose matrix units run at half rate, VGG-16 loses little without them: its 3x3 layers go to
    // Winograd.
    CHECK(in_order_of_loss(priorities("vgg16", 64, "v100-pcie", framework)));
    CHECK(in_order_of_loss(priorities("vgg16", 64, "titan-rtx", framework)));
    static_cast<void>(priorities("vgg16", 64, "rtx-2080-ti", framework));
  }

  TEST_CASE("Transformers would miss matrix units most and 16-bit numbers least") {
    for (const char* gpu : {"v100-pcie", "rtx-2080-ti", "rtx-2060", "titan-rtx"}) {
      CAPTURE(gpu);
      CHECK(in_order_of_loss(priorities("transformer-big", 16, gpu)));
      CHECK(in_order_of_loss(priorities("bert-large", 8, gpu)));
    }
  }

  TEST_CASE("recurrent networks gain most from bandwidth and least from FLOP/s") {
    for (const char* gpu : {"v100-pcie", "rtx-2080-ti", "titan-rtx"}) {
      CAPTURE(gpu);
      CHECK(in_order_of_elasticity(priorities("lstm-lm", 20, gpu)));  // the batch of the published network
    }
  }
}
