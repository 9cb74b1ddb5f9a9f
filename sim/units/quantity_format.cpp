#include <array>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

/// A unit a value may be written in.
struct Step {
  std::string_view symbol;
  double factor;
};

constexpr std::array<Step, 6> kDecimal = {{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}}};

/// Three digits or all before the point, and `more` behind it.
std::string three_digits(double value, int more) {
  constexpr double kLongest = 1e7;  // more digits than these are a line of their own
  const double size = std::abs(value);
  if (size >= kLongest) return fmt::format("{:.{}e}", value, 2 + more);
  return fmt::format("{:.{}f}", value, more + (size < 9.995 ? 2 : size < 99.95 ? 1 : 0));
}

/// The value over the largest step that leaves at least one whole unit after rounding.
std::string scaled(double value, std::span<const Step> steps, std::string_view base, int more = 0) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{} {}{}", value, steps.front().symbol, base);
  const Step* best = &steps.front();
  for (const Step& step : steps) {
    if (std::abs(value) >= step.factor * 0.9995) best = &step;
  }
  return fmt::format("{} {}{}", three_digits(value / best->factor, more), best->symbol, base);
}

std::string size_text(Bytes size, int more) {
  constexpr std::array<Step, 6> kSteps = {
      {{"", 1}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}}};
  if (size.count() >= 0 && size.count() < 1023.5) return fmt::format("{:.{}f} B", size.count(), more);
  return scaled(size.count(), kSteps, "B", more);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result = "'";
  std::size_t shown = 0;
  for (const char c : text) {
    // not in the middle of a UTF-8 character
    if (shown >= kLongest && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      result += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      result += c == '\n' ? std::string("\\n") : fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
    ++shown;
  }
  return result + "'";
}

std::string to_text(Bytes size) { return size_text(size, 0); }
TwoTexts told_apart(Bytes first, Bytes second) {
  constexpr int kMostDigits = 15;  // a double has no more
  TwoTexts texts{to_text(first), to_text(second)};
  for (int more = 1; texts.first == texts.second && first != second && more < kMostDigits; ++more) {
    texts = {size_text(first, more), size_text(second, more)};
  }
  return texts;
}
std::string to_text(BytesPerSecond rate) { return scaled(rate.count(), kDecimal, "B/s"); }
std::string to_text(Seconds duration) {
  constexpr std::array<Step, 5> kSteps = {{{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}};
  if (duration.count() == 0) return "0 s";
  return scaled(duration.count(), kSteps, "");
}
std::string to_text(Flop work) { return scaled(work.count(), kDecimal, "FLOP"); }
std::string to_text(FlopPerSecond rate) { return scaled(rate.count(), kDecimal, "FLOP/s"); }
std::string to_text(Hertz frequency) { return scaled(frequency.count(), kDecimal, "Hz"); }
std::string to_text(Watts power) { return scaled(power.count(), kDecimal, "W"); }
std::string to_text(Dollars price) {
  const bool whole = price.count() == std::round(price.count());
  return whole || price.count() >= 100 ? fmt::format("{:.0f} USD", price.count())
                                       : fmt::format("{:.2f} USD", price.count());
}
std::string count_text(double count) {
  if (std::abs(count) < 1000 && count == std::round(count)) return fmt::format("{:.0f}", count);
  std::string text = scaled(count, kDecimal, "");
  if (text.ends_with(' ')) text.pop_back();
  return text;
}
std::string per_second_text(double per_second) { return scaled(per_second, kDecimal, "/s"); }

}  // namespace gpuscale
