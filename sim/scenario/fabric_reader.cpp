#include "scenario/fabric_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <vector>

#include "scenario/data_file.hpp"
#include "scenario/device_names.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::int64_t kMostPorts = 4096;
constexpr std::int64_t kMostFatTreePorts = 128;
constexpr std::int64_t kMostPositions = 100'000;
constexpr std::size_t kMostDimensions = 6;
constexpr std::size_t kMostConnections = 1'000'000;

std::optional<LinkOfFabric> read_fabric_link(MapReader& fabric, std::string_view key, LinkTypes& types) {
  const YamlValue* value = fabric.find(key);
  if (value == nullptr) return std::nullopt;
  std::optional<LinkOfType> read = types.read(*value, fabric.reading());
  return read ? std::optional<LinkOfFabric>({std::move(read->type), read->lanes}) : std::nullopt;
}

int read_ports(MapReader& fabric, std::string_view key, std::int64_t most = kMostPorts) {
  return static_cast<int>(fabric.whole(key, 1, most));
}

/// A number that the generator works out if it is not given.
int read_ports_or_none(MapReader& fabric, std::string_view key, std::int64_t most = kMostPorts) {
  return fabric.find(key) == nullptr ? 0 : static_cast<int>(fabric.whole(key, 1, most));
}

std::vector<int> read_lengths(const YamlValue& value, std::string_view key, Reading& reading) {
  std::vector<int> lengths;
  if (!value.is_list() || value.items.empty() || value.items.size() > kMostDimensions) {
    reading.note(value.place(),
                 fmt::format("'{}' must be a list of one number for each dimension, such as [4, 4]", key));
    return lengths;
  }
  for (const YamlValue& item : value.items) {
    lengths.push_back(static_cast<int>(read_whole(item, 1, kMostPositions, reading).value_or(1)));
  }
  return lengths;
}

void read_spines(MapReader& reader, FabricSpec& fabric, LinkTypes& types) {
  constexpr double kMostOversubscription = 1000.0;
  fabric.uplink = read_fabric_link(reader, "uplink", types);
  fabric.oversubscription =
      reader.number_or("oversubscription", 1.0, 1.0 / kMostOversubscription, kMostOversubscription);
  fabric.spines = read_ports_or_none(reader, "spines");
}

void read_torus(MapReader& reader, FabricSpec& fabric) {
  if (const YamlValue* size = reader.require("size", "[4, 4]")) {
    fabric.size = read_lengths(*size, "size", reader.reading());
  }
  if (const YamlValue* block = reader.find("block")) {
    fabric.block = read_lengths(*block, "block", reader.reading());
  }
  fabric.wrap = reader.boolean_or("wrap", true);
}

void read_dragonfly(MapReader& reader, FabricSpec& fabric, LinkTypes& types) {
  fabric.adapters = read_ports(reader, "adapters");
  fabric.routers = read_ports_or_none(reader, "routers");
  fabric.global_links = read_ports_or_none(reader, "global_links");
  fabric.uplink = read_fabric_link(reader, "uplink", types);
  fabric.global_link = read_fabric_link(reader, "global_link", types);
}

std::optional<std::vector<std::string>> names_in(const YamlValue& value, std::string_view what, Reading& reading) {
  const std::optional<std::string> text = read_text(value, what, reading);
  if (!text) return std::nullopt;
  std::optional<std::vector<std::string>> names = device_names(*text);
  if (names && !text->empty()) return names;
  reading.note(value.place(), fmt::format("{} is not a device or a range of at most {}; write a range as leaf[0-3]",
                                          in_quotes(*text), kMostDevices));
  return std::nullopt;
}

void read_switches(const YamlValue& value, FabricSpec& fabric, Reading& reading) {
  if (!value.is_list()) {
    reading.note(value.place(), "'switches' must be a list of names, such as [\"leaf[0-3]\", spine0]");
    return;
  }
  std::set<std::string> known;
  for (const YamlValue& item : value.items) {
    const std::optional<std::vector<std::string>> names = names_in(item, "switches", reading);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (known.insert(name).second) {
        fabric.switches.push_back(name);
      } else {
        reading.note(item.place(), fmt::format("the switch {} is named twice", in_quotes(name)));
      }
    }
    if (known.size() <= kMostDevices) continue;
    reading.note(item.place(), fmt::format("the fabric has more than {} switches", kMostDevices));
    return;
  }
}

void read_fabric_connection(const YamlValue& value, const std::string& path, FabricSpec& fabric, LinkTypes& types,
                            Reading& reading) {
  MapReader reader(value, "link", path, reading);
  const YamlValue* between = reader.require("between", "[node0.nic0, leaf0]");
  const std::optional<LinkOfFabric> link = read_fabric_link(reader, "type", types);
  reader.finish();
  if (between == nullptr) return;
  if (!between->is_list() || between->items.size() != 2) {
    reading.note(between->place(), "'between' must be a list of two ends, such as [node0.nic0, leaf0]");
    return;
  }
  const auto from = names_in(between->items[0], "between", reading);
  const auto to = names_in(between->items[1], "between", reading);
  if (!from || !to) return;
  if (from->size() != to->size() && from->size() != 1 && to->size() != 1) {
    reading.note(between->place(),
                 fmt::format("{} devices cannot pair up with {}; give both ranges the same length, or "
                             "one side a single device",
                             from->size(), to->size()));
    return;
  }
  for (std::size_t i = 0; i < std::max(from->size(), to->size()); ++i) {
    ConnectionSpec connection;
    connection.from = (*from)[from->size() == 1 ? 0 : i];
    connection.to = (*to)[to->size() == 1 ? 0 : i];
    connection.type = link ? link->type : fabric.link;
    connection.lanes = link ? link->lanes : fabric.lanes;
    connection.place = between->place();
    if (connection.from == connection.to) {
      reading.note(between->place(), fmt::format("the device {} is linked to itself", in_quotes(connection.from)));
      return;
    }
    if (fabric.connections.size() >= kMostConnections) {
      reading.note(between->place(), fmt::format("the fabric has more than {} links", kMostConnections));
      return;
    }
    fabric.connections.push_back(std::move(connection));
  }
}

void read_graph(MapReader& reader, FabricSpec& fabric, LinkTypes& types) {
  if (const YamlValue* switches = reader.require("switches", "[leaf0]")) {
    read_switches(*switches, fabric, reader.reading());
  }
  const YamlValue* links = reader.require("links", "[{between: [\"node[0-3].nic0\", leaf0]}]");
  if (links == nullptr) return;
  if (!links->is_list()) {
    reader.reading().note(links->place(), fmt::format("'links' must be a list, not {}", words(links->kind)));
    return;
  }
  for (const YamlValue& item : links->items) {
    read_fabric_connection(item, reader.path("links[]"), fabric, types, reader.reading());
  }
}

void read_kind(MapReader& reader, FabricSpec& fabric, LinkTypes& types) {
  switch (fabric.kind) {
    case FabricKind::single_switch:
      return;
    case FabricKind::leaf_spine:
      fabric.leaf_ports = read_ports(reader, "leaf_ports");
      return read_spines(reader, fabric, types);
    case FabricKind::rail_optimised:
      fabric.leaf_boxes = read_ports(reader, "leaf_boxes");
      return read_spines(reader, fabric, types);
    case FabricKind::fat_tree:
      fabric.ports = read_ports_or_none(reader, "ports", kMostFatTreePorts);
      fabric.uplink = read_fabric_link(reader, "uplink", types);
      return;
    case FabricKind::torus:
      return read_torus(reader, fabric);
    case FabricKind::dragonfly:
      return read_dragonfly(reader, fabric, types);
    case FabricKind::graph:
      return read_graph(reader, fabric, types);
  }
}

}  // namespace

EqualCostSpec read_equal_cost(const YamlValue& value, const std::string& path, Reading& reading) {
  MapReader reader(value, "equal_cost", path, reading);
  EqualCostSpec equal_cost;
  equal_cost.collisions = reader.boolean_or("collisions", false);
  equal_cost.seed = static_cast<std::uint64_t>(reader.whole_or("seed", 1, 0, 1'000'000'000));
  reader.finish();
  return equal_cost;
}

std::optional<FabricSpec> read_fabric(const YamlValue& value, const std::string& path, LinkTypes& types,
                                      Reading& reading) {
  const std::optional<DataSource> data = find_data(value, kFabricFiles, reading);
  if (!data) return std::nullopt;
  MapReader reader(*data->map, "fabric", path, reading);
  FabricSpec fabric;
  DataHead head = read_head(reader, *data);
  fabric.id = data->id;
  fabric.name = std::move(head.name);
  fabric.source = std::move(head.source);
  fabric.place = data->map->place();
  const std::size_t problems_before = reading.problems().size();
  fabric.kind = static_cast<FabricKind>(reader.choice_or("kind", kFabricKindNames, 0));
  const bool kind_is_known = reading.problems().size() == problems_before;
  static_cast<void>(reader.require("link", "hdr-infiniband"));
  if (std::optional<LinkOfFabric> link = read_fabric_link(reader, "link", types)) {
    fabric.link = std::move(link->type);
    fabric.lanes = link->lanes;
  }
  fabric.switch_latency = reader.quantity<Seconds>("switch_latency", Zero::allowed);
  read_kind(reader, fabric, types);
  if (const YamlValue* equal_cost = reader.find("equal_cost")) {
    fabric.equal_cost = read_equal_cost(*equal_cost, reader.path("equal_cost"), reading);
  }
  if (kind_is_known) reader.finish();  // else every key of the kind that was meant would be unknown
  return fabric;
}

}  // namespace gpuscale
