// How long it takes to build a cluster of 16,384 GPUs and to find ways in it: a ring over all GPUs and
// 20,000 random pairs. The argument is the kind of fabric.

#include <benchmark/benchmark.h>
#include <random>
#include <string>

#include "topology/cluster.hpp"

namespace {

using namespace gpuscale;

LinkType link(std::string kind, double rate, double latency) {
  LinkType type;
  type.id = kind;
  type.kind = std::move(kind);
  type.lane_rate = BytesPerSecond(rate);
  type.latency = Seconds(latency);
  return type;
}

/// A box in the manner of a DGX A100: eight cards on an NVSwitch, two of them and two adapters a PCIe switch.
MachineSpec box() {
  MachineSpec machine;
  const auto add = [&](const std::string& name, DeviceKind kind) {
    machine.devices.push_back({.name = name, .kind = kind});
  };
  const auto connect = [&](const std::string& from, const std::string& to, const LinkType& type) {
    machine.connections.push_back({.from = from, .to = to, .type = type});
  };
  const LinkType pcie = link("pcie", 25e9, 5e-7);
  add("nvswitch0", DeviceKind::nvswitch);
  for (int i = 0; i < 2; ++i) {
    add("cpu" + std::to_string(i), DeviceKind::cpu);
    add("memory" + std::to_string(i), DeviceKind::memory);
    connect("cpu" + std::to_string(i), "memory" + std::to_string(i), link("memory", 150e9, 9e-8));
  }
  connect("cpu0", "cpu1", link("socket", 80e9, 1e-7));
  for (int i = 0; i < 4; ++i) {
    add("plx" + std::to_string(i), DeviceKind::pcie_switch);
    connect("plx" + std::to_string(i), "cpu" + std::to_string(i / 2), pcie);
  }
  for (int i = 0; i < 8; ++i) {
    add("gpu" + std::to_string(i), DeviceKind::gpu);
    add("nic" + std::to_string(i), DeviceKind::nic);
    connect("gpu" + std::to_string(i), "plx" + std::to_string(i / 2), pcie);
    connect("nic" + std::to_string(i), "plx" + std::to_string(i / 2), pcie);
    connect("gpu" + std::to_string(i), "nvswitch0", link("nvlink", 261e9, 6e-7));
  }
  return machine;
}

ClusterSpec cluster_of(FabricKind kind, int nodes) {
  ClusterSpec spec;
  spec.machine = box();
  spec.nodes = nodes;
  spec.gpus = nodes * 8;
  FabricSpec fabric;
  fabric.kind = kind;
  fabric.link = link("infiniband", 24e9, 1e-6);
  fabric.switch_latency = Seconds(130e-9);
  fabric.leaf_ports = 32;
  fabric.leaf_boxes = 32;
  fabric.oversubscription = 2.0;
  fabric.adapters = 8;
  fabric.size = {nodes / 32, 32, 8};
  fabric.block = {1, 1, 8};
  spec.fabric = std::move(fabric);
  return spec;
}

void build_and_route(benchmark::State& state) {
  constexpr int kNodes = 2048;
  const auto kind = static_cast<FabricKind>(state.range(0));
  const ClusterSpec spec = cluster_of(kind, kNodes);
  for (auto _ : state) {
    const Cluster cluster = build_cluster(spec);
    const std::size_t gpus = cluster.ranks.size();
    for (std::size_t i = 0; i < gpus; ++i) {
      benchmark::DoNotOptimize(cluster.topology.route(cluster.ranks[i], cluster.ranks[(i + 1) % gpus]));
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 20'000; ++i) {
      const std::size_t from = random() % gpus;
      benchmark::DoNotOptimize(cluster.topology.route(cluster.ranks[from], cluster.ranks[random() % gpus]));
    }
  }
  state.SetLabel(std::string(name(kind)));
}

BENCHMARK(build_and_route)->DenseRange(0, 5)->Unit(benchmark::kMillisecond);

}  // namespace
