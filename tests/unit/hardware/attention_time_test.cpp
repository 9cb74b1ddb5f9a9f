#include <doctest/doctest.h>

#include "cards.hpp"
#include "hardware/kernel_time.hpp"

using namespace gpuscale;
using namespace gpuscale::literals;
using gpuscale::test::perfect_card;
using gpuscale::test::round_card;

namespace {

AttentionKernel self_attention(std::int64_t length, bool fused) {
  return {.batch = 5,
          .query_length = length,
          .key_length = length,
          .heads = 16,
          .kv_heads = 16,
          .head_size = 64,
          .fused = fused};
}

}  // namespace

TEST_SUITE("hardware") {
  TEST_CASE("fused attention without losses runs at peak") {
    // 5 x 16 heads of 2048 / 128 query tiles are 64 waves of 20 multiprocessors.
    const AttentionKernel kernel = self_attention(2048, true);
    CHECK(attention_time(perfect_card(), kernel, Precision::fp16).count() ==
          doctest::Approx(flop(kernel).count() / 100e12).epsilon(1e-12));
  }

  TEST_CASE("fused attention beats plain attention and more so on long sequences") {
    const Gpu card = round_card();
    double last = 1.0;
    for (const std::int64_t length : {512, 2048, 8192}) {
      CAPTURE(length);
      const double gain = attention_time(card, self_attention(length, false), Precision::fp16) /
                          attention_time(card, self_attention(length, true), Precision::fp16);
      CHECK(gain > last);
      last = gain;
    }
  }

  TEST_CASE("plain attention writes and reads its scores") {
    const Gpu card = perfect_card();
    const AttentionKernel kernel = self_attention(4096, false);
    const Bytes scores = Bytes(5.0 * 16 * 4096 * 4096 * 2);
    CHECK(attention_time(card, kernel, Precision::fp16) > 8.0 * (scores / card.memory_bandwidth));
  }

  TEST_CASE("a mask halves long fused attention and leaves plain attention as it is") {
    const Gpu card = perfect_card();
    AttentionKernel fused = self_attention(4096, true);
    AttentionKernel plain = self_attention(4096, false);
    const Seconds fused_full = attention_time(card, fused, Precision::fp16);
    const Seconds plain_full = attention_time(card, plain, Precision::fp16);
    fused.causal = plain.causal = true;
    CHECK(attention_time(card, fused, Precision::fp16).count() ==
          doctest::Approx(fused_full.count() / 2).epsilon(1e-12));
    CHECK(attention_time(card, plain, Precision::fp16) == plain_full);
  }

  TEST_CASE("the backward pass of fused attention does five products for two") {
    const Gpu card = perfect_card();
    AttentionKernel kernel = self_attention(2048, true);
    const Seconds forward = attention_time(card, kernel, Precision::fp16);
    kernel.pass = Pass::backward_data;
    CHECK(attention_time(card, kernel, Precision::fp16).count() ==
          doctest::Approx(2.5 * forward.count()).epsilon(1e-12));
  }

  TEST_CASE("short fused attention is slower per operation") {
    const Gpu card = round_card();
    const AttentionKernel brief = self_attention(256, true);
    const AttentionKernel full = self_attention(8192, true);
    CHECK(flop(brief) / attention_time(card, brief, Precision::fp16) <
          flop(full) / attention_time(card, full, Precision::fp16));
  }
}
