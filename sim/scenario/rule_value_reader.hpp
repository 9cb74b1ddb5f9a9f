#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/reading.hpp"
#include "scenario/validation_rule.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// A text, or a list of texts; `what` names it in messages.
std::vector<std::string> read_texts(const YamlValue& value, std::string_view what, Reading& reading);

/// Reads a value of a rule: a text with {column} in it, a map {column: ..., cases: ...}, or, where
/// `may_be_yaml`, any other map or list, which then stands as it is.
RuleValue read_rule_value(const YamlValue& value, std::string_view what, bool may_be_yaml, Reading& reading);

}  // namespace gpuscale
