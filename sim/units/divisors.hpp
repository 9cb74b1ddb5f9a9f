#pragma once

#include <cstdint>
#include <optional>

namespace gpuscale {

/// The divisors of a whole number on both sides of a value that is none.
struct NearestDivisors {
  std::int64_t below = 1;
  std::optional<std::int64_t> above = {};  ///< nothing beyond the number itself

  bool operator==(const NearestDivisors&) const = default;
};

/// \pre `whole` and `value` are positive
constexpr NearestDivisors nearest_divisors(std::int64_t whole, std::int64_t value) {
  NearestDivisors nearest;
  const auto consider = [&](std::int64_t divisor) {
    if (divisor < value && divisor > nearest.below) nearest.below = divisor;
    if (divisor > value && (!nearest.above || divisor < *nearest.above)) nearest.above = divisor;
  };
  for (std::int64_t divisor = 1; divisor * divisor <= whole; ++divisor) {
    if (whole % divisor != 0) continue;
    consider(divisor);
    consider(whole / divisor);
  }
  return nearest;
}

}  // namespace gpuscale
