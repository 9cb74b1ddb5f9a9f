#include "hardware/spread.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <numbers>

using namespace gpuscale;

TEST_CASE("the largest of a few normal numbers has its textbook mean") {
  // H. L. Harter, Expected values of normal order statistics, Biometrika 48 (1961); of two 1/sqrt(pi), of
  // three 1.5/sqrt(pi).
  CHECK(expected_largest(1) == doctest::Approx(0).epsilon(1e-6));
  CHECK(expected_largest(2) == doctest::Approx(1 / std::sqrt(std::numbers::pi)).epsilon(1e-6));
  CHECK(expected_largest(3) == doctest::Approx(1.5 / std::sqrt(std::numbers::pi)).epsilon(1e-6));
  CHECK(expected_largest(4) == doctest::Approx(1.02938).epsilon(1e-5));
  CHECK(expected_largest(5) == doctest::Approx(1.16296).epsilon(1e-5));
  CHECK(expected_largest(10) == doctest::Approx(1.53875).epsilon(1e-5));
  CHECK(expected_largest(100) == doctest::Approx(2.50759).epsilon(1e-5));
}

TEST_CASE("the largest of many grows as the square root of twice their logarithm") {
  CHECK(expected_largest(16'384) < std::sqrt(2 * std::log(16'384.0)));
  CHECK(expected_largest(16'384) > 0.88 * std::sqrt(2 * std::log(16'384.0)));
  for (int cards = 1; cards < 300; ++cards) CHECK(expected_largest(cards) < expected_largest(cards + 1));
}

TEST_CASE("the slowest of so many cards computes longer by the spread") {
  CHECK(slowest_of(1, 0.015) == 1.0);
  CHECK(slowest_of(8, 0.0) == 1.0);
  CHECK(slowest_of(8, 0.02) == doctest::Approx(1.028472).epsilon(1e-6));
}
