#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/fields.hpp"

namespace gpuscale {

/// A field's value in a JSON document; nothing becomes null.
nlohmann::ordered_json field_json(const FieldValue& value);

/// A setting is YAML text; in JSON it becomes the number or truth value it stands for, else text.
nlohmann::ordered_json setting_json(const std::string& text);

}  // namespace gpuscale
