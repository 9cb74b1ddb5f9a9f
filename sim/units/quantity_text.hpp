#pragma once

/// \file
/// Quantities as text: `12 GB/s`, `40 Gb/s`, `1.3 us`, `8 GiB`. k M G T P are powers of 1000, Ki Mi Gi Ti
/// of 1024; b is bits, B bytes; the space is optional. Independent of the locale in both directions.

#include <string>
#include <string_view>

#include "units/quantity.hpp"

namespace gpuscale {

/// What a number with a unit measures.
enum class QuantityKind {
  size,        ///< bytes: 8 GiB
  rate,        ///< bytes a second: 12 GB/s, 40 Gb/s
  duration,    ///< 1.3 us
  flop,        ///< 8.18 GFLOP
  flop_rate,   ///< 11.34 TFLOP/s
  frequency,   ///< 1480 MHz
  power,       ///< 250 W
  price,       ///< 699 USD
  per_second,  ///< things a second: 207 /s
  count,       ///< 25.557 M, or plain digits
};

/// The kind of a unit type.
template <class Q>
inline constexpr QuantityKind kKindOf = QuantityKind::count;
template <>
inline constexpr QuantityKind kKindOf<Bytes> = QuantityKind::size;
template <>
inline constexpr QuantityKind kKindOf<BytesPerSecond> = QuantityKind::rate;
template <>
inline constexpr QuantityKind kKindOf<Seconds> = QuantityKind::duration;
template <>
inline constexpr QuantityKind kKindOf<Flop> = QuantityKind::flop;
template <>
inline constexpr QuantityKind kKindOf<FlopPerSecond> = QuantityKind::flop_rate;
template <>
inline constexpr QuantityKind kKindOf<Hertz> = QuantityKind::frequency;
template <>
inline constexpr QuantityKind kKindOf<Watts> = QuantityKind::power;
template <>
inline constexpr QuantityKind kKindOf<Dollars> = QuantityKind::price;

/// "a size", "a rate"...: the kind in words, for messages.
std::string_view words(QuantityKind kind);
/// "25 MiB", "12 GB/s"...: what a value of the kind looks like.
std::string_view example(QuantityKind kind);

/// A text read as a quantity: its value in base units (bytes, seconds, FLOP), or what is wrong with it.
struct QuantityReading {
  double value = 0.0;
  std::string problem;  ///< empty if the value holds; otherwise says what to write instead

  [[nodiscard]] bool ok() const { return problem.empty(); }
};

/// Reads a quantity. Negative values, values that are not finite, and values beyond what hardware or
/// money of this century has are refused; zero only if `zero_allowed`.
QuantityReading read_quantity(std::string_view text, QuantityKind kind, bool zero_allowed = false);

/// Reads a number without a unit between two limits: a factor or a fraction.
QuantityReading read_number(std::string_view text, double least, double most);

/// Text in quotation marks for a message: control characters escaped, long texts shortened.
std::string in_quotes(std::string_view text);

// For people: three significant digits and the unit that suits the value.
std::string to_text(Bytes size);           ///< "8.00 GiB"
std::string to_text(BytesPerSecond rate);  ///< "12.5 GB/s"
std::string to_text(Seconds duration);     ///< "1.31 ms"
std::string to_text(Flop work);            ///< "8.18 GFLOP"
std::string to_text(FlopPerSecond rate);   ///< "11.3 TFLOP/s"
std::string to_text(Hertz frequency);      ///< "1.48 GHz"
std::string to_text(Watts power);          ///< "250 W"
std::string to_text(Dollars price);        ///< "699 USD"
/// Two sizes with as many digits as it takes to tell them apart: "11.02 GiB" and "11.00 GiB".
struct TwoTexts {
  std::string first;
  std::string second;
};
TwoTexts told_apart(Bytes first, Bytes second);
/// "25.6 M", "128".
std::string count_text(double count);
/// "207 /s", "1.20 k/s".
std::string per_second_text(double per_second);

}  // namespace gpuscale
