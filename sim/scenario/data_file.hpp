#pragma once

/// \file
/// A GPU, machine, model... in a scenario is a name, a path or an inline map: here all three become a map.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "scenario/map_reader.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_parse.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// A sort of data file.
struct DataKind {
  std::string_view what;    ///< in words: "GPU"
  std::string_view folder;  ///< "topologies/gpus"
  std::string_view list;    ///< for `gpuscale list gpus`; empty if not listed
};

inline constexpr DataKind kGpuFiles{"GPU", "topologies/gpus", "gpus"};
inline constexpr DataKind kFamilyFiles{"GPU family", "topologies/families", ""};
inline constexpr DataKind kLinkFiles{"link type", "topologies/links", "links"};
inline constexpr DataKind kMachineFiles{"machine", "topologies/machines", "machines"};
inline constexpr DataKind kFabricFiles{"fabric", "topologies/fabrics", "fabrics"};
inline constexpr DataKind kClusterFiles{"cluster", "topologies/clusters", "clusters"};
inline constexpr DataKind kModelFiles{"model", "workloads/models", "models"};
inline constexpr DataKind kTransportFiles{"transport", "workloads/transports", "transports"};
inline constexpr DataKind kOperatorFiles{"operators", "workloads/operators", "operators"};
inline constexpr DataKind kFrameworkFiles{"framework", "workloads/frameworks", "frameworks"};

/// A map with data and where it came from.
struct DataSource {
  const YamlValue* map = nullptr;                ///< lives as long as the scenario's value and `document`
  std::shared_ptr<const YamlDocument> document;  ///< null for an inline map
  std::string id;                                ///< the name, the file's name without ending, or "inline"
  bool from_library = false;                     ///< found by name
};

/// Finds what a value names. Problems, the file's own among them, are noted.
std::optional<DataSource> find_data(const YamlValue& value, const DataKind& kind, Reading& reading);

/// A file of the library by name; `place` is where the name stands.
std::optional<DataSource> find_by_name(std::string_view name, const Place& place, const DataKind& kind,
                                       Reading& reading);

/// name, source and as_of of a data file. A file of the library must have them; an inline map or a file
/// of one's own may.
struct DataHead {
  std::string name;
  std::string source;
};

enum class Dated { yes, no };

/// Reads the head and notes the file as used.
DataHead read_head(MapReader& reader, const DataSource& data, Dated dated = Dated::yes);

/// Checks an ISO date: YYYY-MM-DD, or YYYY-MM or YYYY where the day is not known.
bool is_iso_date(std::string_view text);

}  // namespace gpuscale
