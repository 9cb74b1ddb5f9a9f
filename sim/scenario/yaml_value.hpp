#pragma once

/// \file
/// A YAML document as plain values: what every reader of this folder works on. Aliases are already
/// written out, every value knows its place, and nothing in here is yaml-cpp's, so a document may be
/// read by several threads.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "units/diagnostic.hpp"

namespace gpuscale {

enum class YamlKind { null, scalar, list, map };

struct YamlEntry;

/// One value: a text, a list or a map. Numbers are texts until a reader asks for one.
struct YamlValue {
  YamlKind kind = YamlKind::null;
  bool quoted = false;  ///< written in quotation marks or as a block: text even if it looks like a number
  int line = 0;         ///< from 1; 0: not from a file
  int column = 0;
  std::shared_ptr<const std::string> file;
  std::string text;                ///< of a scalar
  std::vector<YamlValue> items;    ///< of a list
  std::vector<YamlEntry> entries;  ///< of a map, in the order written, keys unique

  [[nodiscard]] bool is_map() const { return kind == YamlKind::map; }
  [[nodiscard]] bool is_list() const { return kind == YamlKind::list; }
  [[nodiscard]] bool is_scalar() const { return kind == YamlKind::scalar; }
  [[nodiscard]] bool is_null() const { return kind == YamlKind::null; }

  [[nodiscard]] Place place() const { return {file ? *file : std::string(), line, column}; }

  /// The entry with this key, or null.
  [[nodiscard]] const YamlEntry* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  int line = 0;
  int column = 0;
  std::shared_ptr<const std::string> file;
  YamlValue value;

  [[nodiscard]] Place place() const { return {file ? *file : std::string(), line, column}; }
};

/// "a text", "a list", "a map" or "nothing", for messages.
std::string_view words(YamlKind kind);

/// The value as YAML on one line, which reads back as the same value.
std::string to_yaml(const YamlValue& value);

}  // namespace gpuscale
