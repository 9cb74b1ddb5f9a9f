#include "scenario/machine_draft.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <tuple>

namespace gpuscale {

namespace {

constexpr std::size_t kMostConnections = 100'000;

/// Two devices in either order, and the kind of a link between them.
std::tuple<std::string, std::string, std::string> pair_of(const ConnectionSpec& link) {
  const auto& [first, second] = std::minmax(link.from, link.to);
  return {first, second, link.type.kind};
}

}  // namespace

void MachineDraft::start_from(MachineSpec machine) {
  machine_ = std::move(machine);
  number_devices();
}

void MachineDraft::number_devices() {
  index_.clear();
  for (std::size_t i = 0; i < machine_.devices.size(); ++i) index_.emplace(machine_.devices[i].name, i);
}

std::optional<MachineDraft::Names> MachineDraft::expand(std::string_view text, const Place& place) {
  if (text.empty()) {
    reading_->note(place, "a device must have a name");
    return std::nullopt;
  }
  std::optional<Names> names = device_names(text);
  if (!names) {
    reading_->note(place, fmt::format("{} is not a device or a range of at most {}; write a range as gpu[0-3]",
                                      in_quotes(text), kMostDevices));
  }
  return names;
}

void MachineDraft::read_devices(const YamlValue& value, const std::string& path) {
  if (!value.is_map()) {
    reading_->note(value.place(), fmt::format("'devices' must be a map of names, not {}", words(value.kind)));
    return;
  }
  for (const YamlEntry& entry : value.entries) read_device(entry, path);
}

void MachineDraft::read_device(const YamlEntry& entry, const std::string& path) {
  MapReader reader(entry.value, "device", path, *reading_);
  DeviceSpec device;
  device.kind = static_cast<DeviceKind>(reader.choice("kind", kDeviceKindNames));
  device.peer_rate = reader.optional_quantity<BytesPerSecond>("peer_rate");
  device.staging_rate = reader.optional_quantity<BytesPerSecond>("staging_rate");
  device.place = entry.place();
  reader.finish();
  if (device.peer_rate && device.kind != DeviceKind::cpu) {
    reading_->note(reader.place("peer_rate"),
                   "'peer_rate' belongs to a device of kind cpu, whose root complex forwards");
  }
  if (device.staging_rate && device.kind != DeviceKind::memory) {
    reading_->note(reader.place("staging_rate"), "'staging_rate' belongs to a device of kind memory");
  }
  const std::optional<Names> names = expand(entry.key, entry.place());
  complete_ = complete_ && names.has_value();
  if (!names) return;
  for (const std::string& name : *names) {
    device.name = name;
    if (machine_.devices.size() >= kMostDevices && !index_.contains(name)) {
      reading_->note(entry.place(), fmt::format("the machine has more than {} devices", kMostDevices));
      complete_ = false;
      return;
    }
    add_device(device, entry.place());
  }
}

void MachineDraft::add_device(DeviceSpec device, const Place& place) {
  if (!own_.emplace(device.name, true).second) {
    reading_->note(place, fmt::format("the device {} is described twice", in_quotes(device.name)));
    return;
  }
  const auto [position, is_new] = index_.emplace(device.name, machine_.devices.size());
  if (is_new) {
    machine_.devices.push_back(std::move(device));
  } else {
    machine_.devices[position->second] = std::move(device);
  }
}

/// The names at one end of a connection, each known; nothing if one is not.
std::optional<MachineDraft::Names> MachineDraft::read_end(const YamlValue& value) {
  const std::optional<std::string> text = read_text(value, "between", *reading_);
  if (!text) return std::nullopt;
  std::optional<Names> names = expand(*text, value.place());
  if (!names || !complete_) return std::nullopt;
  for (const std::string& name : *names) {
    if (index_.contains(name)) continue;
    std::vector<std::string_view> known;
    for (const auto& [key, position] : index_) known.push_back(key);
    const std::string hint = did_you_mean(name, known);
    reading_->note(value.place(), fmt::format("no device {} in this machine{}", in_quotes(name),
                                              hint.empty() ? "; add it under 'devices'" : hint));
    return std::nullopt;
  }
  return names;
}

std::optional<MachineDraft::Ends> MachineDraft::read_between(const YamlValue& value) {
  if (!value.is_list() || value.items.size() != 2) {
    reading_->note(value.place(), "'between' must be a list of two devices, such as [gpu0, cpu0]");
    return std::nullopt;
  }
  std::optional<Names> from = read_end(value.items[0]);
  std::optional<Names> to = read_end(value.items[1]);
  if (!from || !to) return std::nullopt;
  if (from->size() != to->size() && from->size() != 1 && to->size() != 1) {
    reading_->note(value.place(), fmt::format("{} devices cannot pair up with {}; give both ranges the same length, or "
                                              "one side a single device",
                                              from->size(), to->size()));
    return std::nullopt;
  }
  const std::size_t count = std::max(from->size(), to->size());
  from->resize(count, from->front());
  to->resize(count, to->front());
  return Ends{std::move(*from), std::move(*to)};
}

void MachineDraft::read_link(const YamlValue& value, const std::string& path, LinkTypes& types,
                             std::vector<ConnectionSpec>& links) {
  MapReader reader(value, "link", path, *reading_);
  const YamlValue* between = reader.require("between", "[gpu0, cpu0]");
  const YamlValue* type = reader.require("type", "pcie-3 x16");
  reader.finish();
  std::optional<LinkOfType> link;
  if (type != nullptr) link = types.read(*type, *reading_);
  if (between == nullptr) return;
  const std::optional<Ends> ends = read_between(*between);
  if (!ends || !link) return;
  for (std::size_t i = 0; i < ends->from.size(); ++i) {
    if (ends->from[i] == ends->to[i]) {
      reading_->note(between->place(),
                     fmt::format("the device {} is linked to itself; link it to another", in_quotes(ends->from[i])));
      return;
    }
    if (links.size() >= kMostConnections) {
      reading_->note(between->place(), fmt::format("the machine has more than {} links", kMostConnections));
      return;
    }
    links.push_back(
        {.from = ends->from[i], .to = ends->to[i], .type = link->type, .lanes = link->lanes, .place = value.place()});
  }
}

void MachineDraft::refuse_repeated(const std::vector<ConnectionSpec>& links) {
  std::map<std::tuple<std::string, std::string, std::string>, Place> first;
  std::optional<Place> told;
  for (const ConnectionSpec& link : links) {
    const auto [before, is_new] = first.emplace(pair_of(link), link.place);
    if (is_new || told == link.place) continue;  // a range tells once
    told = link.place;
    reading_->note(link.place,
                   fmt::format("{} and {} have a link of kind {} already, of line {}; keep one, with the lanes of both",
                               in_quotes(link.from), in_quotes(link.to), link.type.kind, before->second.line));
  }
}

void MachineDraft::read_links(const YamlValue& value, const std::string& path, LinkTypes& types) {
  if (!value.is_list()) {
    reading_->note(value.place(), fmt::format("'links' must be a list, not {}", words(value.kind)));
    return;
  }
  std::vector<ConnectionSpec> links;
  for (const YamlValue& item : value.items) read_link(item, path, types, links);
  refuse_repeated(links);
  std::vector<ConnectionSpec>& first = machine_.connections;
  if (!first.empty()) {
    std::set<std::tuple<std::string, std::string, std::string>> replaced;
    for (const ConnectionSpec& link : links) replaced.insert(pair_of(link));
    std::erase_if(first, [&](const ConnectionSpec& link) { return replaced.contains(pair_of(link)); });
  }
  first.insert(first.end(), links.begin(), links.end());
  if (first.size() > kMostConnections) {
    reading_->note(value.place(), fmt::format("the machine has more than {} links", kMostConnections));
  }
}

void MachineDraft::read_removals(const YamlValue& value) {
  if (!value.is_list()) {
    reading_->note(value.place(),
                   "'remove' must be a list of devices and links, such as [nic0, {between: [gpu0, gpu1]}]");
    return;
  }
  for (const YamlValue& item : value.items) {
    if (item.is_map()) {
      remove_links(item);
    } else {
      remove_devices(item);
    }
  }
}

void MachineDraft::remove_devices(const YamlValue& value) {
  const std::optional<Names> names = read_end(value);
  if (!names) return;
  const std::set<std::string, std::less<>> gone(names->begin(), names->end());
  std::erase_if(machine_.devices, [&](const DeviceSpec& device) { return gone.contains(device.name); });
  std::erase_if(machine_.connections,
                [&](const ConnectionSpec& link) { return gone.contains(link.from) || gone.contains(link.to); });
  number_devices();
}

void MachineDraft::remove_links(const YamlValue& value) {
  MapReader reader(value, "removed link", "-", *reading_);
  const YamlValue* between = reader.require("between", "[gpu0, gpu1]");
  reader.finish();
  const std::optional<Ends> ends = between == nullptr ? std::nullopt : read_between(*between);
  if (!ends) return;
  for (std::size_t i = 0; i < ends->from.size(); ++i) {
    const auto joins = [&](const ConnectionSpec& link) {
      return (link.from == ends->from[i] && link.to == ends->to[i]) ||
             (link.from == ends->to[i] && link.to == ends->from[i]);
    };
    if (std::erase_if(machine_.connections, joins) > 0) continue;
    reading_->note(between->place(), fmt::format("there is no link between {} and {} to remove",
                                                 in_quotes(ends->from[i]), in_quotes(ends->to[i])));
    return;
  }
}

void MachineDraft::check_joined(const Place& links_place) const {
  const std::vector<DeviceSpec>& devices = machine_.devices;
  std::vector<std::size_t> root(devices.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (const ConnectionSpec& connection : machine_.connections) {
    root[find(index_.find(connection.from)->second)] = find(index_.find(connection.to)->second);
  }
  const auto gpu = std::ranges::find(devices, DeviceKind::gpu, &DeviceSpec::kind);
  if (gpu == devices.end()) return;
  const std::size_t home = find(static_cast<std::size_t>(gpu - devices.begin()));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (find(i) == home) continue;
    reading_->note(devices[i].place.line > 0 ? devices[i].place : links_place,
                   fmt::format("no links lead from {} to {}; add one under 'links'", in_quotes(devices[i].name),
                               in_quotes(gpu->name)));
    return;
  }
}

}  // namespace gpuscale
