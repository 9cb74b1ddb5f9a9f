#include "hardware/sustained_clock.hpp"

#include <doctest/doctest.h>

#include "cards.hpp"

using namespace gpuscale;
using gpuscale::test::round_card;

namespace {

Gpu card_of(double limit_watts, double idle_watts = 0.0) {
  Gpu card = round_card();
  card.power_limit = Watts(limit_watts);
  card.idle_power = Watts(idle_watts);
  return card;
}

}  // namespace

TEST_SUITE("hardware") {
  TEST_CASE("dynamic power goes with the cube of the clock") {
    const Gpu card = card_of(250, 50);
    // 50 W + 200 W x 0.9^3
    CHECK(clock_at_power(card, Watts(50 + 200 * 0.729)) == doctest::Approx(0.9).epsilon(1e-12));
    CHECK(clock_at_power(card, Watts(250)) == 1.0);
    CHECK(clock_at_power(card, Watts(300)) == 1.0);
  }

  TEST_CASE("below the lowest voltage dynamic power goes with the clock") {
    const Gpu card = card_of(100);
    // The voltage stops falling at 0.8 of the clock, where the power is 0.512.
    CHECK(clock_at_power(card, Watts(51.2)) == doctest::Approx(0.8).epsilon(1e-12));
    CHECK(clock_at_power(card, Watts(25.6)) == doctest::Approx(0.4).epsilon(1e-12));
  }

  TEST_CASE("a power limit lowers arithmetic and leaves memory alone") {
    const Gpu card = card_of(100);
    const Gpu limited = sustained(card, {}, Watts(72.9));
    CHECK(peak_matrix_rate(limited, Precision::fp16).count() == doctest::Approx(90e12).epsilon(1e-12));
    CHECK(peak_matrix_rate(limited, Precision::fp32).count() == doctest::Approx(9e12).epsilon(1e-12));
    CHECK(limited.boost_clock.count() == doctest::Approx(0.9e9).epsilon(1e-12));
    CHECK(limited.memory_bandwidth == card.memory_bandwidth);
  }

  TEST_CASE("a card whose power holds its arithmetic slows by the cube root too") {
    // Rate = power / energy; at 0.729 of the power and 0.81 of the energy it is 0.9 of it.
    Gpu card = card_of(100);
    card.family.gemm.matrix.picojoule = 2.0;
    const Gpu limited = sustained(card, {}, Watts(72.9));
    const double rate = limited.power_limit.count() / limited.family.gemm.matrix.picojoule;
    CHECK(rate / (100 / 2.0) == doctest::Approx(0.9).epsilon(1e-12));
  }

  TEST_CASE("280 W of 350 leave an RTX 3090 above nine tenths of its rate") {
    // Kinghorn, Quad RTX3090 GPU Wattage Limited "MaxQ" TensorFlow Performance (Puget Systems, 2020): over 95 % of the
    // throughput of a training step, of which the clock does not decide all.
    const double clock = clock_at_power(card_of(350, 20), Watts(280));
    CHECK(clock > 0.90);
    CHECK(clock < 1.0);
  }

  TEST_CASE("blowers side by side keep their clocks and open-air cards do not") {
    const Gpu card = card_of(250, 15);
    CHECK(coolable_power(card, {Cooler::blower, 3}) == card.power_limit);
    CHECK(coolable_power(card, {Cooler::water, 3}) == card.power_limit);
    CHECK(coolable_power(card, {Cooler::open_air, 0}) == card.power_limit);
    // (84 - 25) / ((74 - 25) / 250 + 3 x 0.056)
    CHECK(coolable_power(card, {Cooler::open_air, 3}).count() == doctest::Approx(59.0 / 0.364).epsilon(1e-9));
  }

  TEST_CASE("more neighbours never cool and a hungrier card suffers more") {
    double before = 1.0;
    for (int neighbours = 0; neighbours < 8; ++neighbours) {
      CAPTURE(neighbours);
      const Gpu hot = sustained(card_of(250, 15), Cooling{Cooler::open_air, neighbours}, {});
      const Gpu mild = sustained(card_of(160, 10), Cooling{Cooler::open_air, neighbours}, {});
      const double clock = hot.boost_clock.count() / 1e9;
      CHECK(clock <= before);
      CHECK(clock <= mild.boost_clock.count() / 1e9);
      before = clock;
    }
    CHECK(before < 0.9);
  }

  TEST_CASE("of heat and power limit the stricter one holds") {
    const Gpu card = card_of(250, 15);
    const Cooling crowded{Cooler::open_air, 3};
    const Watts coolable = coolable_power(card, crowded);
    CHECK(sustained(card, crowded, Watts(240)).power_limit == coolable);
    CHECK(sustained(card, crowded, Watts(100)).power_limit == Watts(100));
  }
}
