#include "topology/cluster.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "topology/cards.hpp"
#include "topology/fabric.hpp"
#include "units/check.hpp"

namespace gpuscale {

namespace {

/// A connection of a box, no faster than the buses of the cards at its ends.
void connect(TopologyBuilder& builder, const ClusterSpec& spec, const ConnectionSpec& connection,
             const std::array<DeviceId, 2>& ends, const std::map<DeviceId, std::size_t>& kinds) {
  std::optional<ConnectionSpec> fitted;
  for (const DeviceId end : ends) {
    const auto found = kinds.find(end);
    if (found == kinds.end()) continue;
    const std::size_t kind = found->second;
    const std::optional<BusOfCard>& bus = kind == 0 ? spec.gpu_bus : spec.other_cards[kind - 1].bus;
    if (bus) fitted = in_slot(fitted.value_or(connection), *bus);
  }
  const ConnectionSpec& link = fitted ? *fitted : connection;
  builder.connect(ends[0], ends[1], link.type, link.lanes);
}

/// `kind`: of the card, if the device is a GPU.
Device as_device(const DeviceSpec& spec, const ClusterSpec& cluster, const std::string& prefix, int node,
                 std::size_t kind) {
  Device device;
  device.name = prefix + spec.name;
  device.kind = spec.kind;
  device.node = node;
  if (spec.kind != DeviceKind::gpu) return device;
  const Gpu& gpu = card(cluster, kind);
  device.card = kind;
  device.peer_to_peer = cluster.peer_to_peer.value_or(gpu.peer_to_peer);
  device.own_links = cluster.peer_to_peer.value_or(true);
  device.gpudirect = cluster.gpudirect.value_or(cluster.machine.gpudirect && gpu.peer_to_peer);
  return device;
}

DeviceId add_device(TopologyBuilder& builder, const DeviceSpec& spec, const ClusterSpec& cluster,
                    const std::string& prefix, int node, std::size_t kind, std::optional<BytesPerSecond> staged_rate) {
  Device device = as_device(spec, cluster, prefix, node, kind);
  if (spec.peer_rate) {
    device.through = builder.add_channel(device.name + " root complex, peer traffic", *spec.peer_rate, kPassParts);
  }
  if (spec.staging_rate) device.staging = builder.add_channel(device.name + ", staged copies", *spec.staging_rate);
  if (device.kind == DeviceKind::gpu && staged_rate)
    device.staged = builder.add_channel(device.name + ", copies through host memory", *staged_rate * 2.0);
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

Box add_box(TopologyBuilder& builder, const ClusterSpec& spec, int node, std::optional<BytesPerSecond> staged_rate) {
  const std::string prefix = spec.nodes > 1 ? "node" + std::to_string(node) + "." : "";
  Box box;
  std::map<std::string, DeviceId> devices;
  std::map<DeviceId, std::size_t> kinds;  // of the cards
  for (const DeviceSpec& device : spec.machine.devices) {
    const bool is_gpu = device.kind == DeviceKind::gpu;
    const std::size_t kind = is_gpu ? card_at(spec, static_cast<std::size_t>(node), box.gpus.size()) : 0;
    const DeviceId id = add_device(builder, device, spec, prefix, node, kind, staged_rate);
    devices.emplace(device.name, id);
    if (is_gpu) {
      box.gpus.push_back(id);
      kinds.emplace(id, kind);
    }
    if (device.kind == DeviceKind::nic) box.nics.push_back(id);
  }
  for (const ConnectionSpec& connection : spec.machine.connections) {
    const DeviceId from = named(devices, connection.from, connection.place);
    const DeviceId to = named(devices, connection.to, connection.place);
    connect(builder, spec, connection, {from, to}, kinds);
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

}  // namespace

std::vector<RankSlot> rank_slots(const ClusterSpec& spec) {
  const auto slots =
      static_cast<std::size_t>(std::ranges::count(spec.machine.devices, DeviceKind::gpu, &DeviceSpec::kind));
  std::vector<RankSlot> ranks;
  for (std::size_t box = 0; box < static_cast<std::size_t>(spec.nodes); ++box) {
    const std::size_t share = share_of_box(spec, box, slots, ranks.size());
    check(share <= slots, "the reader refuses more GPUs than there are slots");
    for (std::size_t slot = 0; slot < share; ++slot) ranks.push_back({box, slot});
  }
  check(ranks.size() == static_cast<std::size_t>(spec.gpus), "the reader refuses more GPUs than there are slots");
  return ranks;
}

ConnectionSpec in_slot(ConnectionSpec connection, const BusOfCard& bus) {
  if (connection.type.kind != "pcie") return connection;
  if (bus.type.lane_rate < connection.type.lane_rate) connection.type = bus.type;
  connection.lanes = std::min(connection.lanes, bus.lanes);
  return connection;
}

Cluster build_cluster(const ClusterSpec& spec, const HostCopies& copies) {
  TopologyBuilder builder;
  if (copies.one_memory) builder.keep_copies_in_one_memory();
  std::vector<Box> boxes;
  for (int node = 0; node < spec.nodes; ++node) boxes.push_back(add_box(builder, spec, node, copies.staged_rate));
  if (spec.fabric && spec.nodes > 1) {
    if (std::vector<Problem> problems = fabric_problems(spec); !problems.empty()) {
      throw ScenarioError(std::move(problems));
    }
    std::vector<std::vector<DeviceId>> adapters;
    for (const Box& box : boxes) adapters.push_back(box.nics);
    add_fabric(builder, spec, adapters);
  }
  std::vector<DeviceId> ranks;
  for (const RankSlot& rank : rank_slots(spec)) ranks.push_back(boxes[rank.box].gpus[rank.slot]);
  return {std::move(builder).build(), std::move(ranks)};
}

}  // namespace gpuscale
