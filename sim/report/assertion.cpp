#include "report/assertion.hpp"

#include <array>
#include <fmt/format.h>
#include <stdexcept>
#include <vector>

#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

struct Operator {
  std::string_view symbol;
  Comparison comparison;
};

// Longer symbols first, so that ">=" is not read as ">".
constexpr std::array<Operator, 6> kOperators = {{{"<=", Comparison::less_equal},
                                                 {">=", Comparison::greater_equal},
                                                 {"==", Comparison::equal},
                                                 {"!=", Comparison::not_equal},
                                                 {"<", Comparison::less},
                                                 {">", Comparison::greater}}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

[[noreturn]] void refuse(std::string_view condition, std::string_view why) {
  throw std::invalid_argument(fmt::format("condition {}: {}", in_quotes(condition), why));
}

struct Parts {
  std::string_view name;
  Comparison comparison = Comparison::equal;
  std::string_view value;
};

Parts split(std::string_view text) {
  const std::size_t at = text.find_first_of("<>=!");
  if (at != std::string_view::npos) {
    const std::string_view rest = text.substr(at);
    for (const Operator& op : kOperators) {
      if (!rest.starts_with(op.symbol)) continue;
      return {trimmed(text.substr(0, at)), op.comparison, trimmed(rest.substr(op.symbol.size()))};
    }
  }
  refuse(text, "write it as 'speedup >= 3.4', with one of < <= == != >= >");
}

/// Numbers and truth values can be compared; texts cannot.
bool comparable(const Field& field) {
  Report sample;
  sample.throughput_tokens = sample.speedup = sample.efficiency = sample.model_flop_utilisation = 0.0;
  return !std::holds_alternative<std::string>(field.value(sample));
}

const Field& field_of(std::string_view condition, std::string_view name) {
  if (const Field* field = find_field(name)) {
    if (comparable(*field)) return *field;
    refuse(condition, fmt::format("{} is a text; conditions are on numbers", name));
  }
  std::vector<std::string_view> names;
  for (const Field& field : report_fields()) {
    if (!comparable(field)) continue;
    names.push_back(field.path);
    if (field.column != field.path) names.push_back(field.column);
  }
  refuse(condition, fmt::format("no value of a report is called {}{}", in_quotes(name), did_you_mean(name, names)));
}

bool is_time(const Field& field) { return field.path.ends_with("_s") && !field.path.ends_with("_per_s"); }
bool is_size(const Field& field) {
  return field.column.ends_with("_bytes") || field.column.ends_with("_bytes_per_gpu");
}

double value_of(std::string_view condition, std::string_view text, const Field& field) {
  if (text == "true" || text == "false") return text == "true" ? 1.0 : 0.0;
  constexpr double kMost = 1e18;
  const bool percent = text.ends_with('%');
  const std::string_view digits = percent ? trimmed(text.substr(0, text.size() - 1)) : text;
  const QuantityReading plain = read_number(digits, -kMost, kMost);
  if (plain.ok()) return percent ? plain.value / 100 : plain.value;
  if (is_time(field) || is_size(field)) {
    const QuantityReading reading =
        read_quantity(text, is_time(field) ? QuantityKind::duration : QuantityKind::size, true);
    if (reading.ok()) return reading.value;
    refuse(condition, reading.problem);
  }
  refuse(condition, plain.problem);
}

bool holds(double a, Comparison comparison, double b) {
  switch (comparison) {
    case Comparison::less:
      return a < b;
    case Comparison::less_equal:
      return a <= b;
    case Comparison::equal:
      return a == b;
    case Comparison::not_equal:
      return a != b;
    case Comparison::greater_equal:
      return a >= b;
    case Comparison::greater:
      return a > b;
  }
  return false;
}

std::optional<double> number(const FieldValue& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? 1.0 : 0.0;
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const double* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

}  // namespace

Assertion read_assertion(std::string_view text) {
  const Parts parts = split(text);
  const Field& field = field_of(text, parts.name);
  return {std::string(text), &field, parts.comparison, value_of(text, parts.value, field)};
}

std::string violation(const Assertion& assertion, const Report& report) {
  const FieldValue value = assertion.field->value(report);
  const std::optional<double> found = number(value);
  if (found && holds(*found, assertion.comparison, assertion.value)) return {};
  if (!found) return fmt::format("'{}' does not hold: {} has no value here", assertion.text, assertion.field->path);
  return fmt::format("'{}' does not hold: {} is {}", assertion.text, assertion.field->path, plain_text(value));
}

}  // namespace gpuscale
