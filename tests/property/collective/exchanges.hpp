#pragma once

/// \file
/// Every algorithm on small clusters, and what it took.

#include <string>
#include <vector>

#include "collective/algorithms.hpp"
#include "execution/execute.hpp"
#include "unit/machines.hpp"

namespace gpuscale::test {

/// A link type whose switch adds up, of one lane.
inline LinkType summing_link(BytesPerSecond rate, Seconds latency) {
  LinkType type = link_type(rate, latency, "nvlink");
  LinkExchange exchange;
  exchange.protocols[static_cast<std::size_t>(Protocol::simple)] = LinkProtocol{.step = latency * 2.0};
  exchange.in_switch = LinkProtocol{.step = latency * 2.0};
  type.exchange = std::make_shared<const LinkExchange>(exchange);
  return type;
}

/// Cards on one NVLink switch that adds up.
inline Topology nvswitch_of(int gpus, BytesPerSecond rate, Seconds latency) {
  TopologyBuilder builder;
  const DeviceId hub = builder.add({.name = "nvswitch0", .kind = DeviceKind::nvswitch});
  for (int i = 0; i < gpus; ++i) {
    const DeviceId gpu = builder.add({.name = "gpu" + std::to_string(i), .peer_to_peer = true});
    builder.connect(gpu, hub, summing_link(rate, latency), 1);
  }
  return std::move(builder).build();
}

/// Boxes of cards, each with an adapter of its own below its own switch, all links equal.
inline Topology boxes_of(int boxes, int gpus, BytesPerSecond rate, Seconds latency) {
  TopologyBuilder builder;
  const DeviceId fabric = builder.add({.name = "switch", .kind = DeviceKind::network_switch, .node = -1});
  for (int box = 0; box < boxes; ++box) {
    const std::string prefix = "node" + std::to_string(box) + ".";
    const DeviceId hub = builder.add({.name = prefix + "hub", .kind = DeviceKind::pcie_switch, .node = box});
    for (int i = 0; i < gpus; ++i) {
      const std::string number = std::to_string(i);
      const DeviceId gpu =
          builder.add({.name = prefix + "gpu" + number, .node = box, .peer_to_peer = true, .gpudirect = true});
      const DeviceId plx = builder.add({.name = prefix + "plx" + number, .kind = DeviceKind::pcie_switch, .node = box});
      const DeviceId nic = builder.add({.name = prefix + "nic" + number, .kind = DeviceKind::nic, .node = box});
      builder.connect(gpu, plx, link_type(rate, latency), 1);
      builder.connect(plx, hub, link_type(rate, latency), 1);
      builder.connect(plx, nic, link_type(rate, latency), 1);
      builder.connect(nic, fabric, link_type(rate, latency, "infiniband"), 1);
    }
  }
  return std::move(builder).build();
}

/// Cards in rows of `columns`, each joined to its neighbours by links of its own, and round the edges.
inline Topology torus_of(int rows, int columns, BytesPerSecond rate, Seconds latency) {
  TopologyBuilder builder;
  std::vector<DeviceId> gpus;
  const DeviceId hub = builder.add({.name = "switch", .kind = DeviceKind::pcie_switch});
  for (int i = 0; i < rows * columns; ++i) {
    gpus.push_back(builder.add({.name = "gpu" + std::to_string(i), .peer_to_peer = true}));
    builder.connect(gpus.back(), hub, link_type(rate, latency), 1);
  }
  const auto at = [&](int row, int column) {
    return gpus[static_cast<std::size_t>(row % rows * columns + column % columns)];
  };
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const LinkType link = link_type(rate, latency, "nvlink");
      if (columns > 2 || column == 0) builder.connect(at(row, column), at(row, column + 1), link, 1);
      if (rows > 2 || row == 0) builder.connect(at(row, column), at(row + 1, column), link, 1);
    }
  }
  return std::move(builder).build();
}

/// An exchange by one algorithm, whether or not it is meant for the group.
struct Run {
  Plan plan;
  Timeline timeline;
};

inline Run run_exchange(const AlgorithmEntry& entry, Collective what, const Topology& machine, Bytes size,
                        Fidelity fidelity, const Transport& transport = {}, std::vector<Transfer> beside = {}) {
  PlanBuilder plan;
  const RankGroup group(machine, participants_of(machine, plan), transport, &plan_time);
  plan.label("exchange");
  for (const Transfer& transfer : beside) plan.add(transfer);
  Exchange exchange;
  exchange.size = size;
  exchange.values = size.count() / 4.0;
  exchange.fidelity = fidelity;
  Mover mover(plan, group, exchange, Protocol::simple);
  const RankTasks done = add_by(entry, mover, what, size, RankTasks(group.size()));
  plan.join(done);
  Run run{std::move(plan).build(), {}};
  run.timeline = execute(run.plan, machine);
  return run;
}

inline Transport summing_transport() {
  Transport transport;
  transport.protocols = {Protocol::simple};
  transport.in_switch = true;
  return transport;
}

}  // namespace gpuscale::test
