#pragma once

#include <span>
#include <string_view>

namespace gpuscale {

/// A key of a scenario, for people.
struct SchemaKey {
  std::string_view path;           ///< "strategy.exchange.bucket"; NAME and [] stand for any name and any item
  std::string_view type;           ///< what to write, with an example: "size, as 25 MiB"
  std::string_view default_value;  ///< "required", or what holds without the key
  std::string_view meaning;
};

/// Every key of a scenario, in the order of a file; keys of inline data included.
std::span<const SchemaKey> scenario_schema();

/// Whether a path is a key of the schema, a map above one, or may lead into inline data.
bool is_scenario_path(std::string_view path);

}  // namespace gpuscale
