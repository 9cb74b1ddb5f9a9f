#pragma once

#include <span>
#include <string>
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

/// "; did you mean 'cluster.placement'?" for a key that the map at `path` does not have and another part of a scenario
/// does: parts of the same map first, then those beside inline data, then the data. Up to four are named; empty if
/// there is none or there are more. Inside data only the same data's keys are named.
std::string key_elsewhere(std::string_view key, std::string_view path);

}  // namespace gpuscale
