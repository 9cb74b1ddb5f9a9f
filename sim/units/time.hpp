#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

#include "units/quantity.hpp"

namespace gpuscale {

/// An instant of simulated time in whole picoseconds since the start, so that two runs agree to
/// the last digit and times compare with ==. Covers 106 days.
class Time {
 public:
  constexpr Time() = default;
  constexpr explicit Time(std::int64_t picoseconds) : picoseconds_(picoseconds) {}

  [[nodiscard]] constexpr std::int64_t picoseconds() const { return picoseconds_; }
  [[nodiscard]] constexpr Seconds since_start() const { return Seconds(static_cast<double>(picoseconds_) * 1e-12); }

  /// The end of simulated time: what would come later is this.
  [[nodiscard]] static constexpr Time last() { return Time(std::numeric_limits<std::int64_t>::max() - 1); }

  /// The instant a duration later, rounded to the nearest picosecond, at most last().
  [[nodiscard]] Time after(Seconds duration) const {
    const double picoseconds = duration.count() * 1e12;
    const auto left = static_cast<double>(last().picoseconds_ - picoseconds_);
    return picoseconds < left ? Time(picoseconds_ + std::llround(picoseconds)) : last();
  }

  constexpr auto operator<=>(const Time&) const = default;

  friend constexpr Seconds operator-(Time later, Time earlier) {
    return Seconds(static_cast<double>(later.picoseconds_ - earlier.picoseconds_) * 1e-12);
  }

 private:
  std::int64_t picoseconds_ = 0;
};

}  // namespace gpuscale
