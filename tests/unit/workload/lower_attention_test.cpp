#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// The heart of a block's forward pass.
AttentionKernel attention_of(const ModelWork& work) {
  const auto kernels = only<AttentionKernel>(work.layers[0].forward);
  REQUIRE(kernels.size() == 1);
  return kernels[0];
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("heads of their own size make projections that are not square") {
    // Raffel et al. 2019, T5 3B: width 1024, 32 heads of 128.
    const TransformerBlockLayer block{.heads = 32, .head_size = 128, .ffn = 16384, .bias = false};
    const ModelWork work = lowered(sequence(16, 1024), {{block}});
    CHECK(parameter_count(work) == 4.0 * 1024 * 4096 + 2.0 * 1024 * 16384 + 2 * 2 * 1024);
    CHECK(attention_of(work).head_size == 128);
    const ModelWork alone = lowered(sequence(16, 1024), {{AttentionLayer{.heads = 32, .head_size = 128}}});
    CHECK(parameter_count(alone) == 4.0 * 1024 * 4096 + 3 * 4096 + 1024);
  }

  TEST_CASE("turning queries and keys reads and writes both unless it is fused") {
    TransformerBlockLayer block{.heads = 8, .kv_heads = 2, .ffn = 64, .bias = false};
    const LowerOptions plain{.batch = 3};
    const Bytes without = moved(block_of_parts(lowered(sequence(16, 64), {{block}}, plain)).forward);
    block.rotary = true;
    CHECK(moved(block_of_parts(lowered(sequence(16, 64), {{block}}, plain)).forward) - without ==
          Bytes(2.0 * 4 * 3 * 16 * (64 + 16)));
    block.rotary = false;
    const LowerOptions fused{.fused_elementwise = true};
    const Bytes joined = moved(block_of_parts(lowered(sequence(16, 64), {{block}}, fused)).forward);
    block.rotary = true;
    CHECK(moved(block_of_parts(lowered(sequence(16, 64), {{block}}, fused)).forward) == joined);
  }

  TEST_CASE("latent attention has the parameters of DeepSeek V3") {
    // arXiv:2412.19437, section 4.2: width 7168, 128 heads of 128, ranks 1536 and 512, 64 turned numbers.
    const TransformerBlockLayer block{.heads = 128,
                                      .head_size = 128,
                                      .ffn = 18432,
                                      .activation = FeedForward::swiglu,
                                      .norm = BlockNorm::rms_norm,
                                      .bias = false,
                                      .dropout = false,
                                      .latent = LatentAttention{.query = 1536, .key_value = 512, .rotary = 64}};
    const ModelWork work = lowered(sequence(32, 7168), {{block}});
    const double down = 7168.0 * 1536 + 7168.0 * (512 + 64);
    const double up = 1536.0 * 128 * (128 + 64) + 512.0 * 128 * 2 * 128;
    const double norms = 1536 + 512 + 2 * 7168;
    CHECK(parameter_count(work) == down + up + 128.0 * 128 * 7168 + norms + 3.0 * 7168 * 18432);
    // Scores over 192 numbers a head, context over 128.
    const AttentionKernel kernel = attention_of(work);
    CHECK(flop(kernel) == Flop(2.0 * 32 * 32 * 128 * (192 + 128)));
    CHECK(kernel.kv_heads == 128);
  }

  TEST_CASE("a memory lengthens the keys and relative positions add a product of scores") {
    // Dai et al. 2019, Transformer-XL: keys of the segment before, and a second score for the distance.
    TransformerBlockLayer block{.heads = 8, .ffn = 2048, .causal = true, .bias = false, .memory = 192};
    const ModelWork memory = lowered(sequence(192, 512), {{block}});
    CHECK(attention_of(memory).key_length == 384);
    CHECK(only<GemmKernel>(memory.layers[0].forward)[0] ==
          GemmKernel{.m = 3 * 512, .n = 384, .k = 512, .layout = kTransposedA});
    block.relative_positions = true;
    const ModelWork relative = lowered(sequence(192, 512), {{block}});
    CHECK(parameter_count(relative) - parameter_count(memory) == 512.0 * 512 + 2 * 512);
    CHECK(forward_flop_per_sample(relative) - forward_flop_per_sample(memory) ==
          Flop(2.0 * 384 * 512 * 512 + 2.0 * 8 * 192 * 384 * 64));
  }
}
