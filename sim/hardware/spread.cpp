#include "hardware/spread.hpp"

#include <cmath>
#include <numbers>

namespace gpuscale {

double expected_largest(int cards) {
  // The integral over x > 0 of 1 - F(x)^n - F(-x)^n, F the normal distribution, by the trapezium rule, which is exact
  // to many digits for functions that end flat.
  constexpr double kStep = 1.0 / 64;
  constexpr double kEnd = 10;
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  double sum = 0.5 * (1 - 2 * std::pow(0.5, cards));
  for (double x = kStep; x < kEnd; x += kStep) {
    sum += 1 - std::pow(below(x), cards) - std::pow(below(-x), cards);
  }
  return std::round(sum * kStep * 1e6) * 1e-6;
}

double slowest_of(int cards, double spread) { return 1 + spread * expected_largest(cards); }

}  // namespace gpuscale
