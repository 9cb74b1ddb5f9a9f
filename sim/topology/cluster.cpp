#include "topology/cluster.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "topology/fabric.hpp"
#include "units/check.hpp"

namespace gpuscale {

namespace {

/// A card's bus may be narrower or older than its slot: then the connection has the card's rate.
void connect(TopologyBuilder& builder, DeviceId from, DeviceId to, const ConnectionSpec& connection,
             const std::optional<BusOfCard>& bus) {
  const auto rate = [](const LinkType& type, int lanes) { return type.lane_rate * lanes * type.delivered; };
  if (bus && connection.type.kind == "pcie") {
    const int lanes = std::min(connection.lanes, bus->lanes);
    if (rate(bus->type, lanes) < rate(connection.type, connection.lanes)) {
      builder.connect(from, to, bus->type, lanes);
      return;
    }
  }
  builder.connect(from, to, connection.type, connection.lanes);
}

Device as_device(const DeviceSpec& spec, const ClusterSpec& cluster, const std::string& prefix, int node) {
  Device device;
  device.name = prefix + spec.name;
  device.kind = spec.kind;
  device.node = node;
  if (spec.kind != DeviceKind::gpu) return device;
  device.peer_to_peer = cluster.peer_to_peer.value_or(cluster.gpu.peer_to_peer);
  device.own_links = cluster.peer_to_peer.value_or(true);
  device.gpudirect = cluster.gpudirect.value_or(cluster.machine.gpudirect && cluster.gpu.peer_to_peer);
  return device;
}

DeviceId add_device(TopologyBuilder& builder, const DeviceSpec& spec, const ClusterSpec& cluster,
                    const std::string& prefix, int node) {
  Device device = as_device(spec, cluster, prefix, node);
  if (spec.peer_rate) {
    device.through = builder.add_channel(device.name + " root complex, peer traffic", *spec.peer_rate * kPassParts);
  }
  if (spec.staging_rate) device.staging = builder.add_channel(device.name + ", staged copies", *spec.staging_rate);
  return builder.add(std::move(device));
}

DeviceId named(const std::map<std::string, DeviceId>& devices, const std::string& name, const Place& place) {
  const auto found = devices.find(name);
  if (found == devices.end())
    throw ScenarioError({{place, "link to '" + name + "', which is no device of the machine"}});
  return found->second;
}

/// The GPUs of one box in the machine file's order.
struct Box {
  std::vector<DeviceId> gpus;
  std::vector<DeviceId> nics;
};

Box add_box(TopologyBuilder& builder, const ClusterSpec& spec, int node) {
  const std::string prefix = spec.nodes > 1 ? "node" + std::to_string(node) + "." : "";
  Box box;
  std::map<std::string, DeviceId> devices;
  for (const DeviceSpec& device : spec.machine.devices) {
    const DeviceId id = add_device(builder, device, spec, prefix, node);
    devices.emplace(device.name, id);
    if (device.kind == DeviceKind::gpu) box.gpus.push_back(id);
    if (device.kind == DeviceKind::nic) box.nics.push_back(id);
  }
  for (const ConnectionSpec& connection : spec.machine.connections) {
    const DeviceId from = named(devices, connection.from, connection.place);
    const DeviceId to = named(devices, connection.to, connection.place);
    const bool ends_at_card =
        std::ranges::find(box.gpus, from) != box.gpus.end() || std::ranges::find(box.gpus, to) != box.gpus.end();
    connect(builder, from, to, connection, ends_at_card ? spec.gpu_bus : std::nullopt);
  }
  return box;
}

/// How many ranks each box takes: packed fills one before the next, spread shares evenly.
std::size_t share_of_box(const ClusterSpec& spec, std::size_t box, std::size_t slots, std::size_t placed) {
  const auto wanted = static_cast<std::size_t>(spec.gpus);
  if (spec.placement == Placement::packed) return std::min(slots, wanted - placed);
  const auto boxes = static_cast<std::size_t>(spec.nodes);
  return wanted / boxes + (box < wanted % boxes ? 1 : 0);
}

/// Ranks of one box follow each other, so that a ring enters and leaves each box once.
std::vector<DeviceId> place_ranks(const ClusterSpec& spec, const std::vector<Box>& boxes) {
  std::vector<DeviceId> ranks;
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    const std::vector<DeviceId>& slots = boxes[box].gpus;
    const std::size_t share = share_of_box(spec, box, slots.size(), ranks.size());
    check(share <= slots.size(), "the reader refuses more GPUs than there are slots");
    ranks.insert(ranks.end(), slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(share));
  }
  return ranks;
}

}  // namespace

Cluster build_cluster(const ClusterSpec& spec) {
  TopologyBuilder builder;
  std::vector<Box> boxes;
  for (int node = 0; node < spec.nodes; ++node) boxes.push_back(add_box(builder, spec, node));
  if (spec.fabric && spec.nodes > 1) {
    if (std::vector<Problem> problems = fabric_problems(spec); !problems.empty()) {
      throw ScenarioError(std::move(problems));
    }
    std::vector<std::vector<DeviceId>> adapters;
    for (const Box& box : boxes) adapters.push_back(box.nics);
    add_fabric(builder, spec, adapters);
  }
  std::vector<DeviceId> ranks = place_ranks(spec, boxes);
  check(ranks.size() == static_cast<std::size_t>(spec.gpus), "the reader refuses more GPUs than there are slots");
  return {std::move(builder).build(), std::move(ranks)};
}

}  // namespace gpuscale
