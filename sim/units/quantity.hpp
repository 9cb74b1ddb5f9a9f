#pragma once

/// \file
/// Units as types: a double with a tag, compiled to a bare double. Only operators with a meaning
/// exist, so adding bytes to seconds does not compile. Values are in SI base units (bytes, seconds,
/// FLOP); they enter through literals or the scenario reader and leave through count().

#include <compare>

namespace gpuscale {

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double count) : count_(count) {}

  /// The value in base units.
  [[nodiscard]] constexpr double count() const { return count_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.count_ + b.count_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.count_ - b.count_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.count_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(factor * a.count_); }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.count_ / divisor); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }

 private:
  double count_ = 0.0;
};

using Bytes = Quantity<struct ByteUnit>;
using Seconds = Quantity<struct SecondUnit>;
using BytesPerSecond = Quantity<struct BytesPerSecondUnit>;
/// Floating-point operations; a multiply-add counts two.
using Flop = Quantity<struct FlopUnit>;
using FlopPerSecond = Quantity<struct FlopPerSecondUnit>;
using Hertz = Quantity<struct HertzUnit>;
using Watts = Quantity<struct WattUnit>;
using Dollars = Quantity<struct DollarUnit>;

constexpr Seconds operator/(Bytes work, BytesPerSecond rate) { return Seconds(work.count() / rate.count()); }
constexpr Seconds operator/(Flop work, FlopPerSecond rate) { return Seconds(work.count() / rate.count()); }
constexpr BytesPerSecond operator/(Bytes work, Seconds time) { return BytesPerSecond(work.count() / time.count()); }
constexpr FlopPerSecond operator/(Flop work, Seconds time) { return FlopPerSecond(work.count() / time.count()); }
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) { return Bytes(rate.count() * time.count()); }
constexpr Bytes operator*(Seconds time, BytesPerSecond rate) { return rate * time; }

inline namespace literals {

// clang-format off
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<double>(n)); }
constexpr Bytes operator""_kB(unsigned long long n) { return Bytes(static_cast<double>(n) * 1e3); }
constexpr Bytes operator""_MB(unsigned long long n) { return Bytes(static_cast<double>(n) * 1e6); }
constexpr Bytes operator""_GB(unsigned long long n) { return Bytes(static_cast<double>(n) * 1e9); }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(static_cast<double>(n) * 1024.0); }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(static_cast<double>(n) * 1048576.0); }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes(static_cast<double>(n) * 1073741824.0); }
constexpr Seconds operator""_s(long double n) { return Seconds(static_cast<double>(n)); }
constexpr Seconds operator""_s(unsigned long long n) { return Seconds(static_cast<double>(n)); }
constexpr Seconds operator""_ms(long double n) { return Seconds(static_cast<double>(n * 1e-3L)); }
constexpr Seconds operator""_ms(unsigned long long n) { return Seconds(static_cast<double>(n * 1e-3L)); }
constexpr Seconds operator""_us(long double n) { return Seconds(static_cast<double>(n * 1e-6L)); }
constexpr Seconds operator""_us(unsigned long long n) { return Seconds(static_cast<double>(n * 1e-6L)); }
constexpr Seconds operator""_ns(unsigned long long n) { return Seconds(static_cast<double>(n * 1e-9L)); }
constexpr BytesPerSecond operator""_GBps(long double n) { return BytesPerSecond(static_cast<double>(n * 1e9L)); }
constexpr BytesPerSecond operator""_GBps(unsigned long long n) { return BytesPerSecond(static_cast<double>(n) * 1e9); }
constexpr FlopPerSecond operator""_TFLOPps(long double n) { return FlopPerSecond(static_cast<double>(n * 1e12L)); }
// clang-format on

}  // namespace literals

}  // namespace gpuscale
