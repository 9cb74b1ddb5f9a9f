#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/fields.hpp"

namespace gpuscale {

/// A field's value in a JSON document; nothing becomes null.
nlohmann::ordered_json field_json(const FieldValue& value);

}  // namespace gpuscale
