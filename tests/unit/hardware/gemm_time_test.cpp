#include <array>
#include <doctest/doctest.h>
#include <stdexcept>

#include "cards.hpp"
#include "hardware/kernel_time.hpp"
#include "hardware/product.hpp"

using namespace gpuscale;
using namespace gpuscale::literals;
using gpuscale::test::perfect_card;
using gpuscale::test::round_card;

namespace {

/// Sizes between one row and tens of thousands, the odd ones included.
constexpr std::array<std::int64_t, 9> kSizes = {1, 16, 35, 128, 700, 1760, 4096, 9124, 24000};

}  // namespace

TEST_SUITE("hardware") {
  TEST_CASE("a product that fills whole waves of a card without losses runs at peak") {
    // 20 multiprocessors and tiles of 128 x 128: 10 x 2 tiles are one wave.
    const GemmKernel kernel{.m = 1280, .n = 256, .k = 4096};
    const Seconds time = gemm_time(perfect_card(), kernel, Precision::fp32);
    CHECK(time.count() == doctest::Approx(flop(kernel).count() / 10e12).epsilon(1e-12));
  }

  TEST_CASE("a product never exceeds the peak rate or the memory bandwidth") {
    for (const Gpu& card : {perfect_card(), round_card()}) {
      for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16}) {
        for (const std::int64_t m : kSizes) {
          for (const std::int64_t n : kSizes) {
            CAPTURE(m);
            CAPTURE(n);
            const GemmKernel kernel{.m = m, .n = n, .k = 1024};
            const Seconds time = gemm_time(card, kernel, precision);
            CHECK(time * (1 + 1e-12) >= flop(kernel) / peak_matrix_rate(card, precision));
            CHECK(time * (1 + 1e-12) >= least_traffic(kernel, precision) / card.memory_bandwidth);
          }
        }
      }
    }
  }

  TEST_CASE("one row more than a whole number of waves costs a step") {
    Gpu card = perfect_card();
    card.memory_bandwidth = BytesPerSecond(1e15);
    // 20 tiles of 128 x 128 are one wave; the row beyond them starts more. k is too short to split.
    const Seconds full = gemm_time(card, {.m = 1280, .n = 256, .k = 60}, Precision::fp32);
    const Seconds more = gemm_time(card, {.m = 1281, .n = 256, .k = 60}, Precision::fp32);
    CHECK(more > full * 1.05);
    // Up to the next tile the size does not matter.
    CHECK(gemm_time(card, {.m = 1290, .n = 256, .k = 60}, Precision::fp32) == more);
  }

  TEST_CASE("a transposed operand A costs its factor in memory and on the way to its tiles") {
    Gpu card = perfect_card();
    card.family.gemm.vector.transposed = 2.0;
    // Memory decides: A of 4096 x 4096 numbers counts twice, B and C once.
    const GemmKernel plain{.m = 4096, .n = 16, .k = 4096};
    GemmKernel turned = plain;
    turned.layout = kTransposedA;
    const double a = 4096.0 * 4096.0;
    const double b_and_c = 2.0 * 4096.0 * 16.0;
    CHECK(gemm_time(card, plain, Precision::fp32).count() ==
          doctest::Approx((a + b_and_c) * 4.0 / 500e9).epsilon(1e-12));
    CHECK(gemm_time(card, turned, Precision::fp32).count() ==
          doctest::Approx((2.0 * a + b_and_c) * 4.0 / 500e9).epsilon(1e-12));
    // Operands decide: 20 tiles of 128 x 128 are one wave that brings 256 numbers a step of depth, or 384.
    card.memory_bandwidth = BytesPerSecond(1e15);
    card.peak[static_cast<std::size_t>(Precision::fp32)] = FlopPerSecond(1e18);
    card.family.gemm.vector.operand_rate = 4.0;             // a number a clock at 1 GHz
    const GemmKernel square{.m = 1280, .n = 256, .k = 20};  // too short to split
    turned = square;
    turned.layout = kTransposedA;
    CHECK(gemm_time(card, turned, Precision::fp32).count() ==
          doctest::Approx(1.5 * gemm_time(card, square, Precision::fp32).count()).epsilon(1e-4));
    // Operand B costs the same either way, and matrix units have a factor of their own.
    turned.layout = kTransposedB;
    CHECK(gemm_time(card, turned, Precision::fp32) == gemm_time(card, square, Precision::fp32));
    turned.layout = kTransposedA;
    CHECK(gemm_time(card, turned, Precision::fp16) == gemm_time(card, square, Precision::fp16));
  }

  TEST_CASE("a larger product never takes less time") {
    const Gpu card = round_card();
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      for (std::size_t i = 1; i < kSizes.size(); ++i) {
        CAPTURE(kSizes[i]);
        const std::int64_t small = kSizes[i - 1];
        const std::int64_t large = kSizes[i];
        CHECK(gemm_time(card, {.m = large, .n = 512, .k = 512}, precision) >=
              gemm_time(card, {.m = small, .n = 512, .k = 512}, precision));
        CHECK(gemm_time(card, {.m = 512, .n = large, .k = 512}, precision) >=
              gemm_time(card, {.m = 512, .n = small, .k = 512}, precision));
        CHECK(gemm_time(card, {.m = 512, .n = 512, .k = large}, precision) >=
              gemm_time(card, {.m = 512, .n = 512, .k = small}, precision));
      }
    }
  }

  TEST_CASE("more bandwidth or a higher peak never takes more time") {
    const Gpu card = round_card();
    Gpu wider = card;
    wider.memory_bandwidth = card.memory_bandwidth * 2;
    Gpu faster = card;
    faster.peak[static_cast<std::size_t>(Precision::fp32)] = FlopPerSecond(11e12);
    faster.boost_clock = card.boost_clock * 1.1;
    for (const std::int64_t n : kSizes) {
      CAPTURE(n);
      const GemmKernel kernel{.m = 2048, .n = n, .k = 2048};
      CHECK(gemm_time(wider, kernel, Precision::fp32) <= gemm_time(card, kernel, Precision::fp32));
      CHECK(gemm_time(faster, kernel, Precision::fp32) <= gemm_time(card, kernel, Precision::fp32));
    }
  }

  TEST_CASE("one wide row is bound by the bandwidth") {
    const Gpu card = perfect_card();
    const GemmKernel kernel{.m = 8192, .n = 1, .k = 8192};
    CHECK(gemm_time(card, kernel, Precision::fp16) == least_traffic(kernel, Precision::fp16) / card.memory_bandwidth);
  }

  TEST_CASE("a batch of products fills a card that one of them does not") {
    Gpu card = perfect_card();
    card.memory_bandwidth = BytesPerSecond(1e15);
    const GemmKernel one{.m = 32, .n = 32, .k = 60};
    GemmKernel twenty = one;
    twenty.batch = 20;
    CHECK(gemm_time(card, twenty, Precision::fp32) == gemm_time(card, one, Precision::fp32));
    CHECK(gemm_time(card, twenty, Precision::fp32) == flop(twenty) / FlopPerSecond(10e12));
  }

  TEST_CASE("a deep product of few tiles is split over the depth") {
    const Gpu card = perfect_card();
    const GemmKernel deep{.m = 128, .n = 128, .k = 500'000};
    const Seconds unsplit = flop(deep) / FlopPerSecond(10e12 / 20);
    CHECK(gemm_time(card, deep, Precision::fp32) < unsplit * 0.1);
  }

  TEST_CASE("a card that cannot feed its units runs at what its power pays for") {
    Gpu card = perfect_card();
    card.power_limit = Watts(70);
    card.family.gemm.vector.picojoule = 14.0;  // 70 W / 14 pJ = 5 TFLOP/s of 10
    const GemmKernel kernel{.m = 1280, .n = 256, .k = 4096};
    CHECK(gemm_time(card, kernel, Precision::fp32).count() ==
          doctest::Approx(flop(kernel).count() / 5e12).epsilon(1e-12));
    card.power_limit = Watts(200);
    CHECK(gemm_time(card, kernel, Precision::fp32) == gemm_time(perfect_card(), kernel, Precision::fp32));
  }

  TEST_CASE("operands cost a tile the time to bring them beside its arithmetic") {
    Gpu card = perfect_card();
    card.family.gemm.vector.operand_rate = 24.0;
    // 256 x 128 tiles on 20 multiprocessors at 1 GHz and 500 FLOP a clock: 131.072 clocks and 384 x 4 / 24 = 64 clocks
    // a step.
    const GemmKernel kernel{.m = 2560, .n = 256, .k = 4096};
    CHECK(gemm_time(card, kernel, Precision::fp32).count() == doctest::Approx(4096 * 195.072e-9).epsilon(1e-12));
  }

  TEST_CASE("half the arithmetic rate costs less than half the speed where operands limit") {
    Gpu full = perfect_card();
    full.family.gemm.matrix.operand_rate = 24.0;
    Gpu half = full;
    half.matrix[static_cast<std::size_t>(Precision::fp16)] = FlopPerSecond(50e12);
    const GemmKernel kernel{.m = 4096, .n = 4096, .k = 4096};
    const double ratio = gemm_time(half, kernel, Precision::fp16) / gemm_time(full, kernel, Precision::fp16);
    CHECK(ratio > 1.1);
    CHECK(ratio < 1.9);
  }

  TEST_CASE("the launch cost is paid once") {
    Gpu card = perfect_card();
    const GemmKernel kernel{.m = 512, .n = 512, .k = 512};
    const Seconds without = gemm_time(card, kernel, Precision::fp32);
    card.family.launch = 7_us;
    CHECK(gemm_time(card, kernel, Precision::fp32) == without + 7_us);
  }

  TEST_CASE("eight-bit products pay for the casts of their activations") {
    Gpu card = perfect_card();
    card.matrix[static_cast<std::size_t>(Precision::fp8)] = FlopPerSecond(200e12);
    const GemmKernel kernel{.m = 4096, .n = 4096, .k = 4096};
    const Seconds narrow = gemm_time(card, kernel, Precision::fp8);
    CHECK(narrow < gemm_time(card, kernel, Precision::fp16));
    CHECK(narrow > gemm_time(card, kernel, Precision::fp16) * 0.5);
  }

  TEST_CASE("a library without narrow tiles does sixteen columns in the time of sixty-four") {
    Gpu card = round_card();
    card.family.gemm.vector.narrowest_tile = 64;
    card.memory_bandwidth = BytesPerSecond(1e15);
    CHECK(gemm_time(card, {.m = 4096, .n = 16, .k = 4096}, Precision::fp32).count() ==
          doctest::Approx(gemm_time(card, {.m = 4096, .n = 64, .k = 4096}, Precision::fp32).count()).epsilon(1e-3));
  }

  TEST_CASE("an empty product is an error of ours") {
    const Gpu card = round_card();
    CHECK_THROWS_AS(product_time(card, product_units(card, Precision::fp32), {.m = 0}), std::logic_error);
  }
}
