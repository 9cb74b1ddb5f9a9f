#include "scenario/machine_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <string_view>
#include <vector>

#include "scenario/data_file.hpp"
#include "scenario/device_names.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kMostConnections = 100'000;

/// What is being built, with the devices by name.
struct Draft {
  MachineSpec machine;
  std::map<std::string, std::size_t, std::less<>> index;
  bool complete = true;  ///< whether every device and link could be read
};

std::optional<std::vector<std::string>> expand(std::string_view text, const Place& place, Reading& reading) {
  if (text.empty()) {
    reading.note(place, "a device must have a name");
    return std::nullopt;
  }
  std::optional<std::vector<std::string>> names = device_names(text);
  if (!names) {
    reading.note(place, fmt::format("{} is not a device or a range of at most {}; write a range as gpu[0-3]",
                                    in_quotes(text), kMostDevices));
  }
  return names;
}

void read_device(Draft& draft, const YamlEntry& entry, const std::string& path, Reading& reading) {
  MapReader reader(entry.value, "device", path, reading);
  DeviceSpec device;
  device.kind = static_cast<DeviceKind>(reader.choice("kind", kDeviceKindNames));
  device.peer_rate = reader.optional_quantity<BytesPerSecond>("peer_rate");
  device.staging_rate = reader.optional_quantity<BytesPerSecond>("staging_rate");
  device.place = entry.place();
  reader.finish();
  if (device.peer_rate && device.kind != DeviceKind::cpu) {
    reading.note(reader.place("peer_rate"), "'peer_rate' belongs to a device of kind cpu, whose root complex forwards");
  }
  if (device.staging_rate && device.kind != DeviceKind::memory) {
    reading.note(reader.place("staging_rate"), "'staging_rate' belongs to a device of kind memory");
  }
  const std::optional<std::vector<std::string>> names = expand(entry.key, entry.place(), reading);
  draft.complete = draft.complete && names.has_value();
  if (!names) return;
  for (const std::string& name : *names) {
    if (draft.machine.devices.size() >= kMostDevices) {
      reading.note(entry.place(), fmt::format("the machine has more than {} devices", kMostDevices));
      draft.complete = false;
      return;
    }
    if (!draft.index.emplace(name, draft.machine.devices.size()).second) {
      reading.note(entry.place(), fmt::format("the device {} is described twice", in_quotes(name)));
      continue;
    }
    device.name = name;
    draft.machine.devices.push_back(device);
  }
}

/// The names at one end of a connection, each known; nothing if one is not.
std::optional<std::vector<std::string>> read_end(const Draft& draft, const YamlValue& value, Reading& reading) {
  const std::optional<std::string> text = read_text(value, "between", reading);
  if (!text) return std::nullopt;
  std::optional<std::vector<std::string>> names = expand(*text, value.place(), reading);
  if (!names || !draft.complete) return std::nullopt;
  for (const std::string& name : *names) {
    if (draft.index.contains(name)) continue;
    std::vector<std::string_view> known;
    for (const auto& [key, index] : draft.index) known.push_back(key);
    const std::string hint = did_you_mean(name, known);
    reading.note(value.place(), fmt::format("no device {} in this machine{}", in_quotes(name),
                                            hint.empty() ? "; add it under 'devices'" : hint));
    return std::nullopt;
  }
  return names;
}

bool read_connection(Draft& draft, const YamlValue& value, const std::string& path, LinkTypes& types,
                     Reading& reading) {
  MapReader reader(value, "link", path, reading);
  const YamlValue* between = reader.require("between", "[gpu0, cpu0]");
  const YamlValue* type = reader.require("type", "pcie-3 x16");
  reader.finish();
  std::optional<LinkOfType> link;
  if (type != nullptr) link = types.read(*type, reading);
  if (between == nullptr) return false;
  if (!between->is_list() || between->items.size() != 2) {
    reading.note(between->place(), "'between' must be a list of two devices, such as [gpu0, cpu0]");
    return false;
  }
  const std::optional<std::vector<std::string>> from = read_end(draft, between->items[0], reading);
  const std::optional<std::vector<std::string>> to = read_end(draft, between->items[1], reading);
  if (!from || !to || !link) return false;
  if (from->size() != to->size() && from->size() != 1 && to->size() != 1) {
    reading.note(between->place(),
                 fmt::format("{} devices cannot pair up with {}; give both ranges the same length, or "
                             "one side a single device",
                             from->size(), to->size()));
    return false;
  }
  const std::size_t count = std::max(from->size(), to->size());
  for (std::size_t i = 0; i < count; ++i) {
    ConnectionSpec connection;
    connection.from = (*from)[from->size() == 1 ? 0 : i];
    connection.to = (*to)[to->size() == 1 ? 0 : i];
    connection.type = link->type;
    connection.lanes = link->lanes;
    connection.place = value.place();
    if (connection.from == connection.to) {
      reading.note(between->place(), fmt::format("the device {} is linked to itself", in_quotes(connection.from)));
      return false;
    }
    if (draft.machine.connections.size() >= kMostConnections) {
      reading.note(between->place(), fmt::format("the machine has more than {} links", kMostConnections));
      return false;
    }
    draft.machine.connections.push_back(std::move(connection));
  }
  return true;
}

/// Notes the first device that no chain of links joins to the first GPU.
void check_joined(const Draft& draft, const Place& links_place, Reading& reading) {
  const std::vector<DeviceSpec>& devices = draft.machine.devices;
  std::vector<std::size_t> root(devices.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (const ConnectionSpec& connection : draft.machine.connections) {
    root[find(draft.index.find(connection.from)->second)] = find(draft.index.find(connection.to)->second);
  }
  const auto gpu = std::ranges::find(devices, DeviceKind::gpu, &DeviceSpec::kind);
  if (gpu == devices.end()) return;
  const std::size_t home = find(static_cast<std::size_t>(gpu - devices.begin()));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (find(i) == home) continue;
    reading.note(devices[i].place.line > 0 ? devices[i].place : links_place,
                 fmt::format("no links lead from {} to {}; add one under 'links'", in_quotes(devices[i].name),
                             in_quotes(gpu->name)));
    return;
  }
}

}  // namespace

MachineSpec read_machine(const YamlValue& value, const std::string& path, LinkTypes& types, Reading& reading) {
  Draft draft;
  const std::optional<DataSource> data = find_data(value, kMachineFiles, reading);
  if (!data) return draft.machine;
  const std::size_t problems_before = reading.problems().size();
  MapReader reader(*data->map, "machine", path, reading);
  DataHead head = read_head(reader, *data);
  draft.machine.id = data->id;
  draft.machine.name = std::move(head.name);
  draft.machine.source = std::move(head.source);
  draft.machine.place = data->map->place();
  const YamlValue* devices = reader.require("devices", "{cpu0: {kind: cpu}, \"gpu[0-3]\": {kind: gpu}}");
  if (devices != nullptr && !devices->is_map()) {
    reading.note(devices->place(), fmt::format("'devices' must be a map of names, not {}", words(devices->kind)));
  } else if (devices != nullptr) {
    for (const YamlEntry& entry : devices->entries) read_device(draft, entry, reader.path("devices.NAME"), reading);
    if (std::ranges::find(draft.machine.devices, DeviceKind::gpu, &DeviceSpec::kind) == draft.machine.devices.end() &&
        draft.complete && reading.problems().size() == problems_before) {
      reading.note(devices->place(), "the machine has no device of kind gpu");
    }
  }
  const YamlValue* links = reader.require("links", "[{between: [gpu0, cpu0], type: pcie-3 x16}]");
  if (links != nullptr && !links->is_list()) {
    reading.note(links->place(), fmt::format("'links' must be a list, not {}", words(links->kind)));
  } else if (links != nullptr) {
    for (const YamlValue& link : links->items) read_connection(draft, link, reader.path("links[]"), types, reading);
  }
  reader.finish();
  if (links != nullptr && reading.problems().size() == problems_before) check_joined(draft, links->place(), reading);
  return std::move(draft.machine);
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
  if (const YamlValue* link = reader.require("link", "hdr-infiniband")) {
    if (std::optional<LinkOfType> read = types.read(*link, reading)) {
      fabric.link = std::move(read->type);
      fabric.lanes = read->lanes;
    }
  }
  fabric.switch_latency = reader.quantity<Seconds>("switch_latency", Zero::allowed);
  reader.finish();
  return fabric;
}

}  // namespace gpuscale
