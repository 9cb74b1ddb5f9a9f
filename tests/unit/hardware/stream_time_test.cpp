#include <doctest/doctest.h>

#include "cards.hpp"
#include "hardware/kernel_time.hpp"

using namespace gpuscale;
using namespace gpuscale::literals;
using gpuscale::test::perfect_card;
using gpuscale::test::round_card;

TEST_SUITE("hardware") {
  TEST_CASE("a stream costs its bytes and its launches") {
    Gpu card = perfect_card();
    card.family.stream.memory = 0.8;
    card.family.launch = 5_us;
    // 400 MB at 0.8 x 500 GB/s take 1 ms.
    CHECK(stream_time(card, {.moved = 400_MB, .kernels = 3}).count() ==
          doctest::Approx((1_ms + 15_us).count()).epsilon(1e-12));
  }

  TEST_CASE("a stream reaches half its bandwidth where its bytes last as long as a launch") {
    Gpu card = perfect_card();
    card.family.launch = 4_us;
    const Bytes moved = card.memory_bandwidth * 4_us;
    CHECK((moved / stream_time(card, {.moved = moved})).count() == doctest::Approx(250e9).epsilon(1e-12));
  }

  TEST_CASE("twice the bandwidth halves a long stream") {
    const Gpu card = perfect_card();
    Gpu wider = card;
    wider.memory_bandwidth = card.memory_bandwidth * 2;
    CHECK(stream_time(wider, {.moved = 1_GB}) * 2 == stream_time(card, {.moved = 1_GB}));
  }

  TEST_CASE("the time of any kernel is that of its kind") {
    const Gpu card = round_card();
    const GemmKernel gemm{.m = 64, .n = 64, .k = 64};
    const ConvolutionKernel convolution{
        .in_channels = 16, .height = 8, .width = 8, .out_channels = 16, .out_height = 8, .out_width = 8};
    const RecurrentKernel recurrent{.batch = 4, .input = 8, .hidden = 8, .steps = 3};
    const AttentionKernel attention{.query_length = 8, .key_length = 8, .head_size = 8};
    const StreamKernel stream{.moved = 1_MB};
    CHECK(kernel_time(card, gemm, Precision::fp16) == gemm_time(card, gemm, Precision::fp16));
    CHECK(kernel_time(card, convolution, Precision::fp16) == convolution_time(card, convolution, Precision::fp16));
    CHECK(kernel_time(card, recurrent, Precision::fp16) == recurrent_time(card, recurrent, Precision::fp16));
    CHECK(kernel_time(card, attention, Precision::fp16) == attention_time(card, attention, Precision::fp16));
    CHECK(kernel_time(card, stream, Precision::fp16) == stream_time(card, stream));
  }

  TEST_CASE("every kernel of an equal card takes an equal time") {
    const GemmKernel kernel{.m = 1760, .n = 7133, .k = 1760};
    CHECK(kernel_time(round_card(), kernel, Precision::fp16) == kernel_time(round_card(), kernel, Precision::fp16));
  }
}
