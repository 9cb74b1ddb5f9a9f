#include "units/divisors.hpp"

#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("units") {
  TEST_CASE("the divisors beside a number that is none are those next to it") {
    CHECK(nearest_divisors(12, 8) == NearestDivisors{.below = 6, .above = 12});
    CHECK(nearest_divisors(64, 24) == NearestDivisors{.below = 16, .above = 32});
    CHECK(nearest_divisors(50257, 2) == NearestDivisors{.below = 1, .above = 29});
    CHECK(nearest_divisors(4, 100) == NearestDivisors{.below = 4, .above = {}});
  }
}
