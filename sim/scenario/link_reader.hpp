#pragma once

#include <map>
#include <optional>
#include <string>

#include "hardware/gpu.hpp"
#include "hardware/link_type.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// Reads "pcie-3 x16" or "fdr-infiniband" into a type and a lane count, without asking whether the type
/// exists. Nothing if it is not of this form, which is noted.
std::optional<LinkChoice> read_link_choice(const YamlValue& value, Reading& reading);

/// A link type with the lanes taken of it.
struct LinkOfType {
  LinkType type;
  int lanes = 1;
};

/// Link types of one reading, each read once.
class LinkTypes {
 public:
  /// Reads "pcie-3 x16" and the file of the type, and checks that it comes in so many lanes.
  std::optional<LinkOfType> read(const YamlValue& value, Reading& reading);

 private:
  std::map<std::string, std::optional<LinkType>> types_;
};

}  // namespace gpuscale
