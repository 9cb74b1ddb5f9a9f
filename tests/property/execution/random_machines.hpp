#pragma once

/// \file
/// Random machines and clusters as lists, so that a law can change a rate or the order and build again.

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "collective/algorithms.hpp"
#include "collective/all_reduce.hpp"
#include "execution/execute.hpp"
#include "property/collective/exchanges.hpp"
#include "property/dice.hpp"

namespace gpuscale::test {

inline BytesPerSecond random_rate(Dice& dice) { return BytesPerSecond(1e9 * static_cast<double>(1 + dice.below(50))); }

/// Devices, and what joins them. Cards are called gpu0, gpu1... over all boxes.
struct Draft {
  struct Wire {
    std::size_t from;
    std::size_t to;
    std::string kind;
    BytesPerSecond rate;
    bool sums = false;  ///< a switch at its end adds up
  };
  std::vector<Device> devices = {};
  std::vector<Wire> wires = {};
  std::size_t cards = 0;

  std::size_t add(Device device) {
    if (device.kind == DeviceKind::gpu) ++cards;
    devices.push_back(std::move(device));
    return devices.size() - 1;
  }
  std::size_t add_card(int node, bool peer_to_peer) {
    return add({.name = "gpu" + std::to_string(cards), .node = node, .peer_to_peer = peer_to_peer, .gpudirect = true});
  }
};

/// Two sockets with memory, switches that take turns at them, cards below the switches, some pairs with NVLink.
inline void add_random_box(Draft& draft, Dice& dice, int node, std::size_t cards, bool peer_to_peer) {
  const std::string box = "box" + std::to_string(node) + ".";
  std::vector<std::size_t> sockets;
  const BytesPerSecond memory = random_rate(dice) * 2.0;
  for (const char* number : {"0", "1"}) {
    sockets.push_back(draft.add({.name = box + "cpu" + number, .kind = DeviceKind::cpu, .node = node}));
    const std::size_t dimms = draft.add({.name = box + "memory" + number, .kind = DeviceKind::memory, .node = node});
    draft.wires.push_back({sockets.back(), dimms, "memory", memory});
  }
  draft.wires.push_back({sockets[0], sockets[1], "socket", random_rate(dice)});
  std::vector<std::size_t> switches;
  const std::size_t count = 1 + dice.below(4);
  for (std::size_t i = 0; i < count; ++i) {
    switches.push_back(
        draft.add({.name = box + "switch" + std::to_string(i), .kind = DeviceKind::pcie_switch, .node = node}));
    draft.wires.push_back({switches[i], sockets[i % 2], "pcie", random_rate(dice)});
  }
  std::size_t last = 0;
  for (std::size_t i = 0; i < cards; ++i) {
    const std::size_t card = draft.add_card(node, peer_to_peer);
    draft.wires.push_back({card, switches[dice.below(count)], "pcie", random_rate(dice)});
    if (i > 0 && dice.below(3) == 0) draft.wires.push_back({last, card, "nvlink", random_rate(dice)});
    last = card;
  }
}

inline Draft random_box(Dice& dice) {
  Draft draft;
  const bool peer_to_peer = dice.below(2) == 0;
  add_random_box(draft, dice, 0, 2 + dice.below(7), peer_to_peer);
  return draft;
}

/// Equal numbers of cards in boxes of unlike rates, each box with an adapter on one network switch.
inline Draft random_cluster(Dice& dice) {
  Draft draft;
  const std::size_t network = draft.add({.name = "network", .kind = DeviceKind::network_switch, .node = -1});
  const std::size_t cards = 1 + dice.below(4);
  const int boxes = 2 + static_cast<int>(dice.below(3));
  for (int node = 0; node < boxes; ++node) {
    add_random_box(draft, dice, node, cards, true);
    const std::string box = "box" + std::to_string(node) + ".";
    const std::size_t adapter = draft.add({.name = box + "nic0", .kind = DeviceKind::nic, .node = node});
    const auto at = std::ranges::find(draft.devices, box + "switch0", &Device::name);
    draft.wires.push_back({adapter, static_cast<std::size_t>(at - draft.devices.begin()), "pcie", random_rate(dice)});
    draft.wires.push_back({adapter, network, "infiniband", random_rate(dice)});
  }
  return draft;
}

/// Cards on one NVLink switch that adds up.
inline Draft random_nvswitch(Dice& dice) {
  Draft draft;
  const std::size_t hub = draft.add({.name = "nvswitch0", .kind = DeviceKind::nvswitch});
  const std::size_t cards = 2 + dice.below(7);
  for (std::size_t i = 0; i < cards; ++i)
    draft.wires.push_back({draft.add_card(0, true), hub, "nvlink", random_rate(dice), true});
  return draft;
}

/// Rows and columns of cards, each joined to its neighbours and round the edges.
inline Draft random_torus(Dice& dice) {
  Draft draft;
  const std::size_t rows = 2 + dice.below(2);
  const std::size_t columns = 3 + dice.below(2);
  const std::size_t hub = draft.add({.name = "switch0", .kind = DeviceKind::pcie_switch});
  const std::size_t first = hub + 1;
  for (std::size_t i = 0; i < rows * columns; ++i)
    draft.wires.push_back({draft.add_card(0, true), hub, "pcie", random_rate(dice)});
  const auto at = [&](std::size_t row, std::size_t column) { return first + row % rows * columns + column % columns; };
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      draft.wires.push_back({at(row, column), at(row, column + 1), "nvlink", random_rate(dice)});
      if (rows > 2 || row == 0)
        draft.wires.push_back({at(row, column), at(row + 1, column), "nvlink", random_rate(dice)});
    }
  }
  return draft;
}

inline Draft random_draft(Dice& dice) {
  switch (dice.below(5)) {
    case 0:
      return random_nvswitch(dice);
    case 1:
      return random_torus(dice);
    case 2:
      return random_cluster(dice);
    default:
      return random_box(dice);
  }
}

inline std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// `order[i]` is the device that is added as number i.
inline Topology build(const Draft& draft, const std::vector<std::size_t>& order) {
  TopologyBuilder builder;
  std::vector<DeviceId> ids(order.size());
  for (const std::size_t device : order) ids[device] = builder.add(draft.devices[device]);
  for (const Draft::Wire& wire : draft.wires) {
    const LinkType type = wire.sums ? summing_link(wire.rate, 1_us) : link_type(wire.rate, 1_us, wire.kind);
    builder.connect(ids[wire.from], ids[wire.to], type, 1);
  }
  return std::move(builder).build();
}

inline Topology build(const Draft& draft) { return build(draft, in_order(draft.devices.size())); }

inline DeviceId card_named(const Topology& topology, std::size_t card) {
  const auto found = std::ranges::find(topology.devices(), "gpu" + std::to_string(card), &Device::name);
  return DeviceId(static_cast<std::size_t>(found - topology.devices().begin()));
}

/// A rank a card, in the order of their names.
inline std::vector<Participant> ranks_of(const Topology& topology, PlanBuilder& plan) {
  std::vector<Participant> ranks;
  for (std::size_t card = 0; card < topology.gpus().size(); ++card) {
    ranks.push_back({.gpu = card_named(topology, card),
                     .compute = plan.add_lane(std::to_string(card)),
                     .memory_bandwidth = BytesPerSecond(500e9),
                     .stream_bandwidth = BytesPerSecond(500e9)});
  }
  return ranks;
}

inline bool has_device(const Topology& topology, DeviceKind kind) {
  return std::ranges::find(topology.devices(), kind, &Device::kind) != topology.devices().end();
}

/// Everything, and NVLink switches add up.
inline Transport transport_for(const Topology& topology) {
  Transport transport;
  transport.in_switch = has_device(topology, DeviceKind::nvswitch);
  return transport;
}

struct CopyTask {
  std::size_t from = 0;
  std::size_t to = 0;
  Bytes amount;
  bool after_previous = false;
};

inline std::vector<CopyTask> random_copies(Dice& dice, std::size_t cards) {
  std::vector<CopyTask> copies;
  const std::size_t count = 1 + dice.below(30);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = dice.below(cards);
    const std::size_t to = (from + 1 + dice.below(cards - 1)) % cards;
    copies.push_back({from, to, Bytes(static_cast<double>(1 + dice.below(50'000'000))), i > 0 && dice.below(3) == 0});
  }
  return copies;
}

inline void add_copies(PlanBuilder& plan, const Topology& topology, const std::vector<CopyTask>& copies) {
  plan.label("copy");
  std::vector<TaskId> tasks;
  for (const CopyTask& copy : copies) {
    const Route& route = topology.route(card_named(topology, copy.from), card_named(topology, copy.to));
    Transfer transfer{.amount = copy.amount, .latency = route.latency};
    for (const ChannelId channel : route.channels) transfer.loads.push_back({channel});
    std::vector<TaskId> before;
    if (copy.after_previous) before.push_back(tasks.back());
    tasks.push_back(plan.add(transfer, before));
  }
}

inline Plan plan_of(const Topology& topology, const std::vector<CopyTask>& copies) {
  PlanBuilder plan;
  add_copies(plan, topology, copies);
  return std::move(plan).build();
}

}  // namespace gpuscale::test
