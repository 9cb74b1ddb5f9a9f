#pragma once

/// \file
/// Numbers beside one that does not do, for messages that say what to write instead.

#include <cstdint>
#include <fmt/format.h>
#include <string>

#include "units/divisors.hpp"

namespace gpuscale {

/// "64 or 96", the multiples of `step` beside `value`.
inline std::string multiples_beside(std::int64_t value, std::int64_t step) {
  const std::int64_t below = value / step * step;
  return below == 0 ? std::to_string(step) : fmt::format("{} or {}", below, below + step);
}

/// "4 or 6", the divisors of `whole` next below and next above a value that is none.
inline std::string divisors_beside(std::int64_t whole, std::int64_t value) {
  const auto [below, above] = nearest_divisors(whole, value);
  return above ? fmt::format("{} or {}", below, *above) : std::to_string(below);
}

}  // namespace gpuscale
