#include "study/least_squares.hpp"

#include <cmath>
#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("study") {
  TEST_CASE("linear equations are solved where a pivot has to move") {
    // 2y + z = 5; x + y = 3; x + z = 2
    const std::vector<double> x = solve({{0, 2, 1}, {1, 1, 0}, {1, 0, 1}}, {5, 3, 2});
    CHECK(x[0] == doctest::Approx(1.0).epsilon(1e-12));
    CHECK(x[1] == doctest::Approx(2.0).epsilon(1e-12));
    CHECK(x[2] == doctest::Approx(1.0).epsilon(1e-12));
  }

  TEST_CASE("a step goes to the mean of points that agree on the slope") {
    const Linearised at{.residuals = {-0.2, -0.4}, .slopes = {{1.0, 1.0}}};
    // Least squares gives 0.3; the pull towards zero of 0.03 beside two points takes 1.5 % of it.
    CHECK(least_squares_step(at, {0.0}, 2)[0] == doctest::Approx(0.6 / 2.03).epsilon(1e-12));
  }

  TEST_CASE("a point left out does not count") {
    const Linearised at{.residuals = {-0.2, 5.0}, .slopes = {{1.0, 1.0}}};
    CHECK(least_squares_step(at, {0.0}, 1)[0] == doctest::Approx(0.2 / 1.03).epsilon(1e-12));
  }

  TEST_CASE("what no point decides stays where it is nought") {
    const Linearised at{.residuals = {-0.2, -0.2}, .slopes = {{1.0, 1.0}, {0.0, 0.0}}};
    CHECK(least_squares_step(at, {0.0, 0.0}, 2)[1] == 0.0);
  }
}
