#include "workload/written_out.hpp"

#include "hardware/kernel_time.hpp"
#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// tanh form of a GELU in single operators: five unary ones of two passes, one sum of two tensors, one product of two.
constexpr WrittenOut kGelu{
    .forward = 6 * 2 + 2 * 3, .backward = 26, .forward_kernels = 8, .backward_kernels = 10, .kept = 2};

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("an operator that is written out moves its passes and starts its kernels") {
    const StreamKernel forward = forward_stream(kGelu, 1000, Precision::fp16);
    CHECK(forward.moved == Bytes(18 * 2 * 1000));
    CHECK(forward.kernels == 8);
    CHECK(backward_stream(kGelu, 1000, Precision::fp32).moved == Bytes(26 * 4 * 1000));
    CHECK(kept_tensors(kGelu, 1000, Precision::fp16) == Bytes(2 * 2 * 1000));
  }

  TEST_CASE("passes that stay in fp32 move four bytes a number and casts six in 16-bit training only") {
    WrittenOut partly = kGelu;
    partly.forward_wide = 5;
    partly.casts = 2;
    const StreamKernel narrow = forward_stream(partly, 1000, Precision::bf16);
    CHECK(narrow.moved == Bytes((13 * 2 + 5 * 4 + 2 * (2 + 4)) * 1000));
    CHECK(narrow.kernels == 8 + 2);
    CHECK(forward_stream(partly, 1000, Precision::fp32) == forward_stream(kGelu, 1000, Precision::fp32));
    CHECK(kept_tensors(partly, 1000, Precision::bf16) == Bytes(2 * 2 * 1000));
    partly.forward_wide = partly.forward;
    CHECK(kept_tensors(partly, 1000, Precision::bf16) == Bytes(2 * 4 * 1000));
  }

  TEST_CASE("a block writes out what its framework has no kernel for unless a compiler fuses it") {
    const TransformerBlockLayer block{.heads = 4, .ffn = 256};
    const double rows = 2 * 32;
    const WrittenOutOperators operators{.gelu = kGelu};
    const ModelWork plain = lowered(sequence(32, 64), {{block}}, {.batch = 2});
    const ModelWork written = lowered(sequence(32, 64), {{block}}, {.batch = 2, .written_out = operators});
    // In place of two passes forward and three backward, over a tensor of the feed-forward width.
    CHECK(moved(block_of_parts(written).forward) - moved(block_of_parts(plain).forward) ==
          Bytes((18 - 2) * rows * 256 * 4));
    CHECK(moved(block_of_parts(written).backward) - moved(block_of_parts(plain).backward) ==
          Bytes((26 - 3) * rows * 256 * 4));
    CHECK(block_of_parts(written).forward_operators == block_of_parts(plain).forward_operators + 7);
    CHECK(block_of_parts(written).saved - block_of_parts(plain).saved == Bytes(2 * rows * 256 * 4));
    const LowerOptions fused{.batch = 2, .fused_elementwise = true, .written_out = operators};
    CHECK(block_of_parts(lowered(sequence(32, 64), {{block}}, fused)).forward ==
          block_of_parts(lowered(sequence(32, 64), {{block}}, {.batch = 2, .fused_elementwise = true})).forward);
  }

  TEST_CASE("scores that are written out stand beside the products of attention and have their dropout") {
    const TransformerBlockLayer block{.heads = 4, .ffn = 256};
    const WrittenOut scores{.forward = 8, .backward = 11, .forward_kernels = 5, .backward_kernels = 5};
    const WrittenOut dropout{.forward = 10, .backward = 5, .forward_kernels = 5, .backward_kernels = 2};
    const ModelWork plain = lowered(sequence(32, 64), {{block}});
    const ModelWork written =
        lowered(sequence(32, 64), {{block}}, {.written_out = {.dropout = dropout, .scores = scores}});
    CHECK(forward_flop_per_sample(written) == forward_flop_per_sample(plain));
    const auto kernels = only<AttentionKernel>(block_of_parts(written).forward);
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].scores_apart);
    // Dropout of the two parts of a block: ten passes in place of two and a byte a number.
    const double hidden = 2 * 32 * 64 * (10 * 4 - (2 * 4 + 1));
    CHECK(moved(block_of_parts(written).forward) - moved(block_of_parts(plain).forward) ==
          Bytes((8 + 10) * 4 * 32 * 32 * 4 + hidden));
    const LowerOptions flash{.written_out = {.scores = scores}, .fused_attention = true};
    CHECK_FALSE(
        only<AttentionKernel>(block_of_parts(lowered(sequence(32, 64), {{block}}, flash)).forward)[0].scores_apart);
  }

  TEST_CASE("a bias of its own is a kernel each way") {
    const WrittenOut bias{.forward = 2, .backward = 1};
    const ModelWork work =
        lowered(features(64), {{LinearLayer{.out = 32}}}, {.batch = 8, .written_out = {.bias = bias}});
    CHECK(moved(work.layers[0].forward) == Bytes(2 * 8 * 32 * 4));
    CHECK(moved(work.layers[0].backward) == Bytes(8 * 32 * 4));
    CHECK(work.layers[0].forward_operators == 2);
  }
}
