#include <doctest/doctest.h>

#include "cards.hpp"
#include "hardware/kernel_time.hpp"

using namespace gpuscale;
using namespace gpuscale::literals;
using gpuscale::test::perfect_card;
using gpuscale::test::round_card;

TEST_SUITE("hardware") {
  TEST_CASE("a recurrent layer without losses is its products one after the other") {
    const Gpu card = perfect_card();
    const RecurrentKernel layer{.cell = RecurrentCell::lstm, .batch = 64, .input = 512, .hidden = 1024, .steps = 50};
    const Seconds input = gemm_time(card, {.m = 4096, .n = 3200, .k = 512}, Precision::fp32);
    const Seconds step = gemm_time(card, {.m = 4096, .n = 64, .k = 1024}, Precision::fp32);
    CHECK(recurrent_time(card, layer, Precision::fp32) == input + 50.0 * step);
  }

  TEST_CASE("each step costs its fixed time") {
    Gpu card = perfect_card();
    const RecurrentKernel layer{.batch = 16, .input = 256, .hidden = 256, .steps = 150};
    const Seconds without = recurrent_time(card, layer, Precision::fp32);
    card.family.recurrent.step = 10_us;
    CHECK(recurrent_time(card, layer, Precision::fp32).count() ==
          doctest::Approx((without + 1500_us).count()).epsilon(1e-12));
  }

  TEST_CASE("the weight gradients of all steps are one product") {
    const Gpu card = perfect_card();
    const RecurrentKernel layer{.pass = Pass::backward_weights,
                                .cell = RecurrentCell::gru,
                                .batch = 32,
                                .input = 768,
                                .hidden = 1024,
                                .steps = 100};
    CHECK(recurrent_time(card, layer, Precision::fp32) ==
          gemm_time(card, {.m = 3072, .n = 1792, .k = 3200}, Precision::fp32));
  }

  TEST_CASE("a small batch reads the recurrent weights every step") {
    const Gpu card = round_card();
    const RecurrentKernel layer{.cell = RecurrentCell::lstm, .batch = 1, .input = 0, .hidden = 4096, .steps = 25};
    const Bytes weights = Bytes(4.0 * 4096 * 4096 * 4);
    CHECK(recurrent_time(card, layer, Precision::fp32) > 25.0 * (weights / card.memory_bandwidth));
  }

  TEST_CASE("a library that does not split the depth at a batch leaves multiprocessors idle") {
    Gpu card = round_card();
    RecurrentKernel layer{.pass = Pass::backward_data, .batch = 32, .input = 0, .hidden = 256, .steps = 100};
    const Seconds best = recurrent_time(card, layer, Precision::fp32);
    card.family.recurrent.unsplit_batch = 32;
    // Two tiles of 128 x 128, each walked by one multiprocessor.
    const FlopPerSecond one = *rate_at(card.peak, Precision::fp32) / static_cast<double>(card.multiprocessors);
    const Seconds tile = Flop(2.0 * 128 * 128 * 256) / one;
    CHECK(recurrent_time(card, layer, Precision::fp32) >= 100.0 * tile);
    CHECK(recurrent_time(card, layer, Precision::fp32) > 1.5 * best);
    layer.batch = 64;
    const Seconds other = recurrent_time(card, layer, Precision::fp32);
    card.family.recurrent.unsplit_batch = 0;
    CHECK(recurrent_time(card, layer, Precision::fp32) == other);
  }

  TEST_CASE("a persistent kernel pays the product and a barrier a step while the weights fit") {
    Gpu card = perfect_card();
    card.family.recurrent.step = 40_us;
    card.family.recurrent.persistent = {.on_chip = Bytes(192.0 * 1024), .barrier = 2_us};  // 3.9 MB in all
    RecurrentKernel layer{.cell = RecurrentCell::lstm, .batch = 16, .input = 0, .hidden = 256, .steps = 100};
    const Seconds launched = recurrent_time(card, layer, Precision::fp32);
    layer.persistent = true;
    const Seconds product = Flop(2.0 * 1024 * 256 * 16) / FlopPerSecond(10e12);
    CHECK(recurrent_time(card, layer, Precision::fp32).count() ==
          doctest::Approx((100.0 * (product + 2_us)).count()).epsilon(1e-12));
    CHECK(recurrent_time(card, layer, Precision::fp32) < launched / 8.0);
  }

  TEST_CASE("a layer too wide for the registers runs as without persistent kernels") {
    Gpu card = perfect_card();
    card.family.recurrent.step = 40_us;
    card.family.recurrent.persistent = {.on_chip = Bytes(192.0 * 1024), .barrier = 2_us};
    for (const std::int64_t hidden : {256, 480, 512, 1024}) {  // 4 x 480^2 x 4 bytes still fit in 3.9 MB
      CAPTURE(hidden);
      RecurrentKernel layer{.cell = RecurrentCell::lstm, .batch = 16, .input = 0, .hidden = hidden, .steps = 100};
      const Seconds launched = recurrent_time(card, layer, Precision::fp32);
      layer.persistent = true;
      CHECK((recurrent_time(card, layer, Precision::fp32) < launched) == (hidden <= 480));
    }
  }

  TEST_CASE("a library without persistent kernels ignores the wish for them") {
    const Gpu card = round_card();
    RecurrentKernel layer{.cell = RecurrentCell::gru, .batch = 16, .input = 0, .hidden = 128, .steps = 100};
    const Seconds launched = recurrent_time(card, layer, Precision::fp32);
    layer.persistent = true;
    CHECK(recurrent_time(card, layer, Precision::fp32) == launched);
  }

  TEST_CASE("a layer may have no input product") {
    const Gpu card = round_card();
    for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights}) {
      RecurrentKernel layer{.pass = pass, .batch = 16, .input = 0, .hidden = 512, .steps = 25};
      const Seconds without = recurrent_time(card, layer, Precision::fp32);
      layer.input = 512;
      CHECK(without < recurrent_time(card, layer, Precision::fp32));
    }
  }

  TEST_CASE("longer sequences and wider layers take more time") {
    const Gpu card = round_card();
    for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights}) {
      const RecurrentKernel layer{.pass = pass, .batch = 32, .input = 512, .hidden = 512, .steps = 50};
      RecurrentKernel longer = layer;
      longer.steps = 100;
      RecurrentKernel wider = layer;
      wider.hidden = 1024;
      const Seconds time = recurrent_time(card, layer, Precision::fp16);
      CHECK(recurrent_time(card, longer, Precision::fp16) > time);
      CHECK(recurrent_time(card, wider, Precision::fp16) > time);
    }
  }
}
