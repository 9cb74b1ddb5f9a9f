#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// A block of Mixtral 8x7B (arXiv:2401.04088, table 1), without its grouped keys.
TransformerBlockLayer block_of(std::optional<ExpertMixture> experts) {
  return {.heads = 32,
          .ffn = 14336,
          .activation = FeedForward::swiglu,
          .norm = BlockNorm::rms_norm,
          .bias = false,
          .dropout = false,
          .experts = std::move(experts)};
}

constexpr double kExpert = 3.0 * 4096 * 14336;
constexpr double kRouter = 4096.0 * 8;

ModelWork mixture(ExpertMixture experts, const LowerOptions& options = {}) {
  return lowered(sequence(4096, 4096), {{block_of(experts)}}, options);
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("a mixture has the parameters of all experts and the FLOP of those that work") {
    const ModelWork dense = lowered(sequence(4096, 4096), {{block_of(std::nullopt)}});
    const ModelWork work = mixture({.count = 8, .active = 2});
    CHECK(parameter_count(work) - parameter_count(dense) == 7 * kExpert + kRouter);
    CHECK(forward_flop_per_sample(work) - forward_flop_per_sample(dense) == Flop(2.0 * 4096 * (kExpert + kRouter)));
    const auto products = only<GemmKernel>(block_of_parts(work).forward);
    CHECK(products[2] == GemmKernel{.m = 8, .n = 4096, .k = 4096, .layout = kTransposedA});
    CHECK(products[3] == GemmKernel{.m = 2 * 14336, .n = 1024, .k = 4096, .batch = 8, .layout = kTransposedA});
    CHECK(products[4] == GemmKernel{.m = 4096, .n = 1024, .k = 14336, .batch = 8, .layout = kTransposedA});
  }

  TEST_CASE("the FLOP of Mixtral and DeepSeek-V3 are those of their published active parameters") {
    // arXiv:2401.04088: 13 B of 47 B; arXiv:2412.19437: 37 B of 671 B, with the embedding table, which is not
    // multiplied. 2 FLOP for each active parameter and token besides the scores.
    const TransformerBlockLayer mixtral = [] {
      TransformerBlockLayer block = block_of(ExpertMixture{.count = 8, .active = 2});
      block.kv_heads = 8;
      return block;
    }();
    const ModelWork work = lowered(sequence(4096, 4096), {{mixtral}});
    const double scores = 4.0 * 4096 * 4096 * 4096;
    const double active = 32 * (forward_flop_per_sample(work).count() - scores) / (2 * 4096) + 2.0 * 32000 * 4096;
    CHECK(active == doctest::Approx(12.9e9).epsilon(0.01));

    const TransformerBlockLayer deepseek{.heads = 128,
                                         .head_size = 128,
                                         .ffn = 18432,
                                         .activation = FeedForward::swiglu,
                                         .norm = BlockNorm::rms_norm,
                                         .bias = false,
                                         .experts = ExpertMixture{.count = 256, .active = 8, .shared = 1, .ffn = 2048},
                                         .latent = LatentAttention{.query = 1536, .key_value = 512, .rotary = 64}};
    TransformerBlockLayer dense = deepseek;
    dense.experts.reset();
    const ModelWork both = lowered(sequence(4096, 7168), {{deepseek}, {dense}});
    const double latent_scores = 2.0 * 4096 * 4096 * 128 * (192 + 128);
    const auto weights = [&](std::size_t layer) {
      return (block_of_parts(both, 2 * layer).forward_flop.count() - latent_scores) / (2 * 4096);
    };
    CHECK(58 * weights(0) + 3 * weights(1) + 2.0 * 129280 * 7168 == doctest::Approx(37e9).epsilon(0.02));
  }

  TEST_CASE("every token visits the shared experts") {
    const ModelWork plain = mixture({.count = 8, .active = 2});
    const ModelWork shared = mixture({.count = 8, .active = 2, .shared = 1});
    CHECK(parameter_count(shared) - parameter_count(plain) == kExpert);
    CHECK(forward_flop_per_sample(shared) - forward_flop_per_sample(plain) == Flop(2.0 * 4096 * kExpert));
  }

  TEST_CASE("experts may be narrower than the block") {
    const ModelWork work = mixture({.count = 8, .active = 2, .ffn = 2048});
    CHECK(only<GemmKernel>(block_of_parts(work).forward)[3].m == 2 * 2048);
  }

  TEST_CASE("a capacity pads every expert to its places") {
    const auto products =
        only<GemmKernel>(block_of_parts(mixture({.count = 8, .active = 2, .capacity = 1.25})).forward);
    CHECK(products[3].n == 1280);
    CHECK(products[3].batch == 8);
  }

  TEST_CASE("a few tokens meet only as many experts as they visit") {
    const ModelWork work = lowered(sequence(1, 4096), {{block_of(ExpertMixture{.count = 8, .active = 2})}});
    const GemmKernel up = only<GemmKernel>(block_of_parts(work).forward)[3];
    CHECK(up.n == 1);
    CHECK(up.batch == 2);
  }
}
