#pragma once

/// \file
/// Small topologies for tests, with round figures.

#include <optional>
#include <string>
#include <vector>

#include "collective/exchange.hpp"
#include "plan/plan.hpp"
#include "topology/topology.hpp"

namespace gpuscale::test {

/// A full-duplex link type of one lane with this delivered rate and latency.
inline LinkType link_type(BytesPerSecond rate, Seconds latency, std::string kind = "pcie") {
  LinkType type;
  type.id = "test";
  type.kind = std::move(kind);
  type.lane_rate = rate;
  type.latency = latency;
  return type;
}

/// GPUs below one switch, each on a link of its own. Peer copies allowed.
inline Topology star_of(int gpus, BytesPerSecond rate, Seconds latency = Seconds()) {
  TopologyBuilder builder;
  const DeviceId hub = builder.add({.name = "switch", .kind = DeviceKind::pcie_switch});
  for (int i = 0; i < gpus; ++i) {
    const DeviceId gpu = builder.add({.name = "gpu" + std::to_string(i), .peer_to_peer = true});
    builder.connect(gpu, hub, link_type(rate, latency), 1);
  }
  return std::move(builder).build();
}

/// GPUs on one socket that may not copy to each other: everything goes through memory0.
inline Topology desktop_of(int gpus, BytesPerSecond slot, BytesPerSecond memory,
                           std::optional<BytesPerSecond> staged_rate = {}) {
  TopologyBuilder builder;
  const DeviceId cpu = builder.add({.name = "cpu0", .kind = DeviceKind::cpu});
  const DeviceId memory0 = builder.add({.name = "memory0", .kind = DeviceKind::memory});
  LinkType channels = link_type(memory, Seconds(), "memory");
  channels.half_duplex = true;
  builder.connect(cpu, memory0, channels, 1);
  for (int i = 0; i < gpus; ++i) {
    Device card{.name = "gpu" + std::to_string(i), .peer_to_peer = false};
    if (staged_rate) card.staged = builder.add_channel(card.name + " staged", *staged_rate * 2.0);
    builder.connect(builder.add(card), cpu, link_type(slot, Seconds()), 1);
  }
  return std::move(builder).build();
}

/// One participant a GPU, each with a lane of its own.
inline std::vector<Participant> participants_of(const Topology& topology, PlanBuilder& plan) {
  std::vector<Participant> ranks;
  for (const DeviceId gpu : topology.gpus()) {
    ranks.push_back({.gpu = gpu,
                     .compute = plan.add_lane(topology.device(gpu).name),
                     .memory_bandwidth = BytesPerSecond(288.4e9),
                     .stream_bandwidth = BytesPerSecond(288.4e9)});
  }
  return ranks;
}

}  // namespace gpuscale::test
