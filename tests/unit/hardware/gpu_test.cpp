#include "hardware/gpu.hpp"

#include <doctest/doctest.h>
#include <stdexcept>

#include "cards.hpp"

using namespace gpuscale;
using gpuscale::test::round_card;

TEST_SUITE("hardware") {
  TEST_CASE("matrix units are used for the precisions they have") {
    const Gpu card = round_card();
    CHECK(on_matrix_units(card, Precision::fp16));
    CHECK(peak_matrix_rate(card, Precision::fp16) == FlopPerSecond(100e12));
    CHECK_FALSE(on_matrix_units(card, Precision::fp32));
    CHECK(peak_matrix_rate(card, Precision::fp32) == FlopPerSecond(10e12));
    CHECK(peak_matrix_rate(card, Precision::fp64) == FlopPerSecond(5e12));
  }

  TEST_CASE("narrow numbers without matrix units for them are computed as fp32") {
    Gpu card = round_card();
    CHECK(peak_matrix_rate(card, Precision::bf16) == FlopPerSecond(10e12));
    CHECK(peak_matrix_rate(card, Precision::fp8) == FlopPerSecond(10e12));
    card.matrix = {};
    card.peak[static_cast<std::size_t>(Precision::fp16)] = FlopPerSecond(20e12);
    CHECK(peak_matrix_rate(card, Precision::fp16) == FlopPerSecond(10e12));
  }

  TEST_CASE("tf32 falls back to fp32 on a card without it") {
    Gpu card = round_card();
    CHECK(peak_matrix_rate(card, Precision::tf32) == FlopPerSecond(50e12));
    card.matrix = {};
    CHECK(peak_matrix_rate(card, Precision::tf32) == FlopPerSecond(10e12));
  }

  TEST_CASE("a precision without any rate is an error of ours") {
    Gpu card = round_card();
    card.peak = {};
    CHECK_THROWS_AS(peak_matrix_rate(card, Precision::fp32), std::logic_error);
  }

  TEST_CASE("a card with a slow last part of memory loses bandwidth only beyond the fast part") {
    // GTX 970: 3.5 GiB at 196 GB/s and the last half GiB at 28 GB/s (NVIDIA, January 2015).
    Gpu card = round_card();
    card.memory_bandwidth = BytesPerSecond(196e9);
    card.fast_memory_size = Bytes(3.5 * 1073741824);
    card.slow_memory_bandwidth = BytesPerSecond(28e9);
    CHECK(memory_bandwidth_in_use(card, 3_GiB) == card.memory_bandwidth);
    CHECK(memory_bandwidth_in_use(card, 4_GiB).count() ==
          doctest::Approx(1 / (0.875 / 196e9 + 0.125 / 28e9)).epsilon(1e-12));
  }
}
