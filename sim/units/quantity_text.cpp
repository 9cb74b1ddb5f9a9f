#include "units/quantity_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "units/diagnostic.hpp"

namespace gpuscale {

namespace {

struct KindInfo {
  std::string_view words;
  std::string_view unit;  ///< of the example
  std::string_view example;
  std::string_view base;  ///< what stands behind the prefix
  double least;           ///< below this a value is a slip, and times would not fit the clock
  double most;
  bool prefixes;
};

// In the order of QuantityKind.
constexpr std::array<KindInfo, 10> kKinds = {{
    {"a size", "MiB", "25 MiB", "B", 0.0, 1e18, true},
    {"a rate", "GB/s", "12 GB/s", "B/s", 1e3, 1e18, true},
    {"a time", "us", "30 us", "s", 0.0, 1e6, false},
    {"an amount of work", "GFLOP", "8 GFLOP", "FLOP", 0.0, 1e27, true},
    {"a rate of arithmetic", "TFLOP/s", "11 TFLOP/s", "FLOP/s", 1e6, 1e21, true},
    {"a frequency", "MHz", "1480 MHz", "Hz", 1.0, 1e13, true},
    {"a power", "W", "250 W", "W", 0.0, 1e9, true},
    {"a price", "USD", "699 USD", "USD", 0.0, 1e12, true},
    {"a rate per second", "/s", "207 /s", "/s", 1e-6, 1e12, true},
    {"a count", "M", "25 M", "", 0.0, 1e18, true},
}};

constexpr const KindInfo& info(QuantityKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

struct Prefix {
  std::string_view symbol;
  double factor;
};

constexpr std::array<Prefix, 6> kDecimal = {{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}}};
constexpr std::array<Prefix, 5> kBinary = {
    {{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}}};
constexpr std::array<Prefix, 8> kTimes = {{{"ps", 1e-12},
                                           {"ns", 1e-9},
                                           {"us", 1e-6},
                                           {"\u00b5s", 1e-6},
                                           {"ms", 1e-3},
                                           {"s", 1.0},
                                           {"min", 60.0},
                                           {"h", 3600.0}}};

struct Unit {
  QuantityKind kind;
  double factor;
  bool bits = false;
};

std::optional<double> factor_before(std::string_view unit, std::string_view base, bool binary) {
  if (!unit.ends_with(base)) return std::nullopt;
  const std::string_view prefix = unit.substr(0, unit.size() - base.size());
  for (const Prefix& p : kDecimal) {
    if (p.symbol == prefix) return p.factor;
  }
  if (binary) {
    for (const Prefix& p : kBinary) {
      if (p.symbol == prefix) return p.factor;
    }
  }
  return std::nullopt;
}

/// What a unit symbol means; the symbols of different kinds never coincide.
std::optional<Unit> find_unit(std::string_view unit) {
  for (const Prefix& p : kTimes) {
    if (p.symbol == unit) return Unit{QuantityKind::duration, p.factor};
  }
  struct Base {
    std::string_view symbol;
    QuantityKind kind;
    bool binary;
    double scale;
  };
  constexpr std::array<Base, 11> kBases = {{{"FLOP/s", QuantityKind::flop_rate, false, 1},
                                            {"FLOP", QuantityKind::flop, false, 1},
                                            {"B/s", QuantityKind::rate, true, 1},
                                            {"b/s", QuantityKind::rate, true, 0.125},
                                            {"B", QuantityKind::size, true, 1},
                                            {"b", QuantityKind::size, true, 0.125},
                                            {"Hz", QuantityKind::frequency, false, 1},
                                            {"W", QuantityKind::power, false, 1},
                                            {"USD", QuantityKind::price, false, 1},
                                            {"/s", QuantityKind::per_second, false, 1},
                                            {"", QuantityKind::count, false, 1}}};
  for (const Base& base : kBases) {
    if (const std::optional<double> factor = factor_before(unit, base.symbol, base.binary)) {
      return Unit{base.kind, *factor * base.scale, base.scale != 1};
    }
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Number {
  double value = 0.0;
  std::string_view digits;  ///< as written
  std::string_view rest;    ///< what follows it
  std::string problem;
};

Number take_number(std::string_view text) {
  Number number;
  const std::string_view sign_removed = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  const bool starts_like_one =
      !sign_removed.empty() &&
      (is_digit(sign_removed[0]) || (sign_removed[0] == '.' && sign_removed.size() > 1 && is_digit(sign_removed[1])));
  if (!starts_like_one) {
    number.problem = "is not a number";
    return number;
  }
  if (sign_removed.size() > 1 && sign_removed[0] == '0' && (sign_removed[1] == 'x' || sign_removed[1] == 'X')) {
    number.problem = "is hexadecimal; write it in decimal digits";
    return number;
  }
  if (sign_removed.size() > 1 && sign_removed[0] == '0' && is_digit(sign_removed[1])) {
    number.problem =
        fmt::format("starts with a zero, which YAML may read as octal; write {}",
                    sign_removed.substr(std::min(sign_removed.find_first_not_of('0'), sign_removed.size() - 1)));
    return number;
  }
  const char* const end = text.data() + text.size();
  const char* const begin = text.starts_with('+') ? text.data() + 1 : text.data();
  const std::from_chars_result result = std::from_chars(begin, end, number.value);
  if (result.ec == std::errc::result_out_of_range || !std::isfinite(number.value)) {
    number.problem = "is out of range";
    return number;
  }
  number.digits = std::string_view(text.data(), static_cast<std::size_t>(result.ptr - text.data()));
  number.rest = trimmed(std::string_view(result.ptr, static_cast<std::size_t>(end - result.ptr)));
  if (!number.rest.empty() && (number.rest[0] == ',' || number.rest[0] == '_' || number.rest[0] == '\'')) {
    number.problem = "has a separator between its digits; write the digits without one";
  }
  return number;
}

std::string wrong_kind(std::string_view text, const Number& number, const Unit& unit, QuantityKind wanted) {
  const KindInfo& want = info(wanted);
  if (number.rest.empty()) {
    constexpr std::size_t kFewDigits = 4;  // a longer number is hardly meant in the example's unit
    const bool may_be_meant = number.digits.size() <= kFewDigits && number.value > 0;
    return may_be_meant ? fmt::format("{} is not {}; write a number with a unit, such as {} {}", in_quotes(text),
                                      want.words, number.digits, want.unit)
                        : fmt::format("{} is not {}; write a number with a unit, such as {}", in_quotes(text),
                                      want.words, want.example);
  }
  const bool forgot_second = (unit.kind == QuantityKind::size && wanted == QuantityKind::rate) ||
                             (unit.kind == QuantityKind::flop && wanted == QuantityKind::flop_rate);
  if (forgot_second) {
    const std::string as_bytes = unit.bits ? fmt::format(", which is {} (8 bits make a byte)",
                                                         to_text(BytesPerSecond(number.value * unit.factor)))
                                           : std::string();
    return fmt::format("{} is {}, not {}; write {} {}/s{}", in_quotes(text), info(unit.kind).words, want.words,
                       number.digits, number.rest, as_bytes);
  }
  const bool surplus_second = (unit.kind == QuantityKind::rate && wanted == QuantityKind::size) ||
                              (unit.kind == QuantityKind::flop_rate && wanted == QuantityKind::flop);
  if (surplus_second && !unit.bits) {
    return fmt::format("{} is {}, not {}; write {} {}", in_quotes(text), info(unit.kind).words, want.words,
                       number.digits, number.rest.substr(0, number.rest.size() - 2));
  }
  return fmt::format("{} is {}, not {}; write {}, such as {}", in_quotes(text), info(unit.kind).words, want.words,
                     want.words, want.example);
}

/// Units of a kind whose letters are those of `unit`, whatever their case: "gb/s" has "GB/s" and "Gb/s".
std::vector<std::string> respelt(std::string_view unit, QuantityKind kind) {
  std::string wanted;
  for (const char c : unit) wanted += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  if (wanted.ends_with("flops")) {
    wanted.pop_back();
  } else if (wanted.ends_with("ps") && kind != QuantityKind::duration) {
    wanted.replace(wanted.size() - 2, 2, "/s");
  }
  if (kind == QuantityKind::flop_rate && wanted.ends_with("flop")) wanted += "/s";
  std::vector<std::string> found;
  const auto offer = [&](const std::string& symbol) {
    std::string lowered;
    for (const char c : symbol) lowered += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
    if (lowered == wanted) found.push_back(symbol);
  };
  if (kind == QuantityKind::duration) {
    for (const Prefix& p : kTimes) offer(std::string(p.symbol));
    return found;
  }
  std::vector<std::string> bases = {std::string(info(kind).base)};
  if (kind == QuantityKind::rate) bases.emplace_back("b/s");
  for (const std::string& base : bases) {
    for (const Prefix& p : kDecimal) offer(std::string(p.symbol) + base);
    if (kind == QuantityKind::size || kind == QuantityKind::rate) {
      for (const Prefix& p : kBinary) offer(std::string(p.symbol) + base);
    }
  }
  return found;
}

std::string unknown_unit(std::string_view text, const Number& number, QuantityKind kind) {
  const KindInfo& want = info(kind);
  const std::vector<std::string> near = respelt(number.rest, kind);
  if (near.size() == 2 && kind == QuantityKind::rate) {
    return fmt::format("{} has an unknown unit {}; write {} {} for bytes or {} {} for bits", in_quotes(text),
                       in_quotes(number.rest), number.digits, near[0], number.digits, near[1]);
  }
  if (!near.empty()) {
    return fmt::format("{} has an unknown unit {}; did you mean '{} {}'?", in_quotes(text), in_quotes(number.rest),
                       number.digits, near[0]);
  }
  return fmt::format("{} has an unknown unit {}; write {}, such as {}", in_quotes(text), in_quotes(number.rest),
                     want.words, want.example);
}

}  // namespace

std::string_view words(QuantityKind kind) { return info(kind).words; }
std::string_view example(QuantityKind kind) { return info(kind).example; }

QuantityReading read_quantity(std::string_view text, QuantityKind kind, bool zero_allowed) {
  const KindInfo& want = info(kind);
  text = trimmed(text);
  const auto wrong = [&](std::string what) { return QuantityReading{0.0, std::move(what)}; };
  if (text.empty()) return wrong(fmt::format("an empty text is not {}; write {}", want.words, want.example));
  const Number number = take_number(text);
  if (number.problem == "is not a number") {
    return wrong(
        fmt::format("{} is not {}; write a number with a unit, such as {}", in_quotes(text), want.words, want.example));
  }
  if (!number.problem.empty()) return wrong(fmt::format("{} {}", in_quotes(text), number.problem));
  const std::optional<Unit> unit = find_unit(number.rest);
  if (!unit) return wrong(unknown_unit(text, number, kind));
  if (unit->kind != kind) return wrong(wrong_kind(text, number, *unit, kind));
  if (kind == QuantityKind::size && unit->bits) {
    const std::string_view prefix = number.rest.substr(0, number.rest.size() - 1);
    return wrong(fmt::format(
        "{} counts bits (b), and a size is in bytes (B), 8 bits each; write {} {}B, or {:g} {}B if bits are meant",
        in_quotes(text), number.digits, prefix, number.value / 8, prefix));
  }
  const double value = number.value * unit->factor;
  if (value < 0) return wrong(fmt::format("{} is negative; {} is above zero", in_quotes(text), want.words));
  if (value == 0 && !zero_allowed)
    return wrong(fmt::format("{} is zero; {} here is above zero", in_quotes(text), want.words));
  if (value > want.most) return wrong(fmt::format("{} is too large to be {}", in_quotes(text), want.words));
  if (value != 0 && value < want.least)
    return wrong(fmt::format("{} is too small to be {}", in_quotes(text), want.words));
  return {value, {}};
}

namespace {

/// What to write instead of a number with something behind it: never what would be refused again.
std::string plain_advice(const Number& number, double least, double most) {
  const auto is_within = [&](double value) { return value >= least && value <= most; };
  if (number.rest == "%" && is_within(number.value / 100)) {
    return fmt::format("write the percentage as a fraction, {:g}", number.value / 100);
  }
  if (number.rest != "%" && is_within(number.value)) return fmt::format("write {} without a unit", number.digits);
  return fmt::format("write a number between {:g} and {:g}", least, most);
}

}  // namespace

QuantityReading read_number(std::string_view text, double least, double most) {
  text = trimmed(text);
  const Number number = take_number(text);
  if (!number.problem.empty()) return {0.0, fmt::format("{} {}", in_quotes(text), number.problem)};
  if (!number.rest.empty()) {
    return {0.0, fmt::format("{} is not a plain number; {}", in_quotes(text), plain_advice(number, least, most))};
  }
  if (number.value < least || number.value > most) {
    return {0.0, fmt::format("{} is not between {:g} and {:g}", in_quotes(text), least, most)};
  }
  return {number.value, {}};
}

}  // namespace gpuscale
