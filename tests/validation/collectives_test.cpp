// Measured exchanges of tests/validation/data/collectives.csv, and the best all-reduce rates published for these
// machines.

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "validation/validated.hpp"

namespace gpuscale {

namespace {

const Validation& collectives() {
  static const Validation result = test::printed("collectives");
  return result;
}

const Validation& copies() {
  static const Validation result = test::validated("copies");
  return result;
}

double error_of(const std::string& class_name, const Validation& validation = collectives()) {
  for (const GroupResult& group : validation.groups) {
    if (group.by == "class" && group.name == class_name) return group.time_mape.value_or(1e9);
  }
  return 1e9;
}

/// The best bus bandwidth, GB/s, of all-reduces on a machine as its rows call it.
double best_rate(const std::string& machine, int gpus) {
  double best = 0;
  for (const RowResult& row : collectives().rows) {
    if (!row.used || row.gpus != gpus || !row.machine.starts_with(machine) || !row.what.starts_with("all-reduce"))
      continue;
    best = std::max(best, row.bus_bandwidth.value_or(0.0) / 1e9);
  }
  return best;
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("measured exchanges are met by size class") {
    CHECK(error_of("collective/floor") <= 10.0);   // promised: 25
    CHECK(error_of("collective/middle") <= 12.0);  // promised: 20
    CHECK(error_of("collective/large") <= 6.0);    // promised: 8
  }

  TEST_CASE("best all-reduce rates are within a tenth") {
    struct Rate {
      const char* machine;
      int gpus;
      double least;
      double most;
    };
    // Several cards share a name: from the published figure to the best row of any.
    constexpr Rate kRates[] = {
        {"DGX/HGX A100", 2, 193, 193},  {"DGX/HGX A100", 4, 217, 217}, {"DGX/HGX A100", 8, 222, 235},
        {"HGX H100", 2, 318, 318},      {"HGX H100", 4, 350, 350},     {"HGX H100", 8, 445, 480},
        {"HGX B200", 8, 704, 846},      {"8x RTX PRO", 2, 38.6, 38.6}, {"8x RTX PRO", 4, 26.4, 26.4},
        {"8x RTX PRO", 8, 24.7, 24.7},  {"8x L40S", 2, 20.1, 20.1},    {"single-root", 2, 12.2, 12.2},
        {"single-root", 4, 11.1, 11.1}, {"single-root", 8, 8.7, 8.7},  {"single-root", 32, 5.5, 5.65},
        {"dual-root", 2, 6.2, 6.2},     {"dual-root", 4, 6.0, 6.0},    {"dual-root", 8, 6.2, 6.2},
        {"dual-root", 32, 4.3, 4.3},    {"2x AWS p4de", 16, 78, 78}};
    for (const Rate& rate : kRates) {
      CAPTURE(rate.machine);
      CAPTURE(rate.gpus);
      CHECK(best_rate(rate.machine, rate.gpus) >= 0.9 * rate.least);
      CHECK(best_rate(rate.machine, rate.gpus) <= 1.1 * rate.most);
    }
    // Without peer-to-peer the rate collapses with the number of cards. The best of the table, 5.9 and 2.1, are single
    // rows at 1 MiB; from 32 MiB on 5.1 to 5.2 and, but for one row, 1.45 to 1.5 are measured.
    CHECK(best_rate("8x L40S", 4) == doctest::Approx(5.15).epsilon(0.1));
    CHECK(best_rate("8x L40S", 8) == doctest::Approx(1.48).epsilon(0.1));
  }

  TEST_CASE("copies between two cards are met where they reach each other") {
    CHECK(error_of("copy/direct", copies()) <= 10.0);
    WARN(error_of("copy/through-host", copies()) <= 20.0);  // the driver's chunks are not modelled
  }
}

}  // namespace gpuscale
