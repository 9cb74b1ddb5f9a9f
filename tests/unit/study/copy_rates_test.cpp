#include "study/copy_rates.hpp"

#include <doctest/doctest.h>

#include "study/device_joins.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;

TEST_SUITE("study") {
  TEST_CASE("copies together share what they have in common") {
    const Topology machine = test::star_of(4, 10_GBps);
    const std::span<const DeviceId> gpus = machine.gpus();
    CHECK(rate_alone(machine, {gpus[0], gpus[1]}) == 10_GBps);
    const std::vector<Copy> into_one = {{gpus[0], gpus[3]}, {gpus[1], gpus[3]}};
    CHECK(rates_together(machine, into_one) == std::vector<BytesPerSecond>(2, 5_GBps));
  }

  TEST_CASE("a copy through host memory passes a half-duplex memory twice") {
    const Topology machine = test::desktop_of(2, 12_GBps, 20_GBps);
    CHECK(rate_alone(machine, {machine.gpus()[0], machine.gpus()[1]}) == 10_GBps);
  }

  TEST_CASE("a star is cut by what its links carry") {
    for (const int gpus : {2, 3, 8}) {
      CAPTURE(gpus);
      const Topology machine = test::star_of(gpus, 10_GBps);
      const Bisection found = bisect(machine, machine.gpus());
      CHECK(found.exhaustive);
      CHECK(found.tried == (gpus == 2 ? 1 : gpus == 3 ? 3 : 35));
      CHECK(found.worst.rate.count() == doctest::Approx(10e9 * (gpus / 2)).epsilon(1e-9));
      CHECK(found.best.rate == found.worst.rate);
    }
  }

  TEST_CASE("many GPUs are halved in two ways only") {
    const Topology machine = test::star_of(18, 10_GBps);
    const Bisection found = bisect(machine, machine.gpus());
    CHECK(!found.exhaustive);
    CHECK(found.tried == 2);
    CHECK(found.worst.rate.count() == doctest::Approx(90e9).epsilon(1e-9));
  }

  TEST_CASE("joins have the words of nvidia-smi") {
    const Topology star = test::star_of(2, 10_GBps);
    DeviceJoins joins(star);
    CHECK(joins.between(star.gpus()[0], star.gpus()[1]).text() == "PIX");
    CHECK(joins.between(star.gpus()[0], star.gpus()[0]).text() == "X");
    const Topology desktop = test::desktop_of(2, 12_GBps, 20_GBps);
    CHECK(DeviceJoins(desktop).between(desktop.gpus()[0], desktop.gpus()[1]).text() == "PHB");
  }
}
