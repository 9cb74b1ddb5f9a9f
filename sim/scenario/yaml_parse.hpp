#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/yaml_value.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale {

/// A document and what is wrong with it as YAML. With problems the root may be missing or partial;
/// without them it is there.
struct YamlDocument {
  YamlValue root;
  std::vector<Problem> problems;
};

/// Nesting beyond this is refused, aliases written out.
inline constexpr int kDeepestNesting = 64;
/// Values of one document beyond this are refused, aliases written out.
inline constexpr std::size_t kMostValues = 200'000;

/// Reads one YAML document. Refused, with the place: what check_text refuses, duplicate keys, keys that
/// are not text, merge keys, tags, a second document, an alias inside its own anchor, too deep nesting,
/// too many values.
YamlDocument parse_yaml(std::string_view text, const std::string& file);

/// Reads a value from the command line: all problems have the place `origin` without a line.
YamlDocument parse_yaml_value(std::string_view text, const std::string& origin);

}  // namespace gpuscale
