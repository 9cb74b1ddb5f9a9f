#include "scenario/yaml_value.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpuscale {

namespace {

/// Whether a text means itself when written without quotation marks, also inside [] and {}.
bool is_plain(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text == "null" || text == "~") return false;
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+- $";
  return text.find_first_not_of(kSafe) == std::string_view::npos && text.front() != '-' && text.front() != '.';
}

std::string quote_yaml(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string scalar(std::string_view text, bool quoted) {
  return is_plain(text) && !quoted ? std::string(text) : quote_yaml(text);
}

}  // namespace

const YamlEntry* YamlValue::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &YamlEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

std::string_view words(YamlKind kind) {
  switch (kind) {
    case YamlKind::null:
      return "nothing";
    case YamlKind::scalar:
      return "a text";
    case YamlKind::list:
      return "a list";
    case YamlKind::map:
      return "a map";
  }
  return "";
}

std::string to_yaml(const YamlValue& value) {
  std::string result;
  switch (value.kind) {
    case YamlKind::null:
      return "null";
    case YamlKind::scalar:
      return scalar(value.text, value.quoted);
    case YamlKind::list:
      for (const YamlValue& item : value.items) result += (result.empty() ? "" : ", ") + to_yaml(item);
      return "[" + result + "]";
    case YamlKind::map:
      for (const YamlEntry& entry : value.entries) {
        result += (result.empty() ? "" : ", ") + scalar(entry.key, false) + ": " + to_yaml(entry.value);
      }
      return "{" + result + "}";
  }
  return result;
}

}  // namespace gpuscale
