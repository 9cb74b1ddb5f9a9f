#pragma once

/// \file
/// The single values of a report by name: one table from which JSON keys, CSV columns and the names of
/// `--assert` come, so they cannot differ.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "report/report.hpp"

namespace gpuscale {

/// A value, or nothing where it has no meaning for this report.
using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// A value's name says its unit: `_s` seconds, `_bytes` bytes; `memory.*` is in bytes.
struct Field {
  std::string_view path;    ///< in JSON: "split.compute_s"
  std::string_view column;  ///< in CSV: "compute_s"
  FieldValue (*value)(const Report&);
  bool asked = false;  ///< known before the simulation, so a refused point has it too
};

/// The value in a report; of a refused point only what was asked for.
FieldValue value_of(const Field& field, const Report& report);

/// In the order of the JSON document.
std::span<const Field> report_fields();

/// The field with this path or column name, or null.
const Field* find_field(std::string_view name);

/// The value as digits or words: doubles in the shortest form that reads back the same, nothing as "".
std::string plain_text(const FieldValue& value);

}  // namespace gpuscale
