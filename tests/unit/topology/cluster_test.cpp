#include "topology/cluster.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

MachineSpec two_slots() {
  MachineSpec machine;
  machine.devices = {{.name = "cpu0", .kind = DeviceKind::cpu},
                     {.name = "memory0", .kind = DeviceKind::memory},
                     {.name = "gpu0"},
                     {.name = "gpu1"},
                     {.name = "nic0", .kind = DeviceKind::nic}};
  const LinkType slot = link_type(12_GBps, 1_us);
  machine.connections = {{.from = "cpu0", .to = "memory0", .type = link_type(40_GBps, 0_us, "memory")},
                         {.from = "gpu0", .to = "cpu0", .type = slot},
                         {.from = "gpu1", .to = "cpu0", .type = slot},
                         {.from = "nic0", .to = "cpu0", .type = slot}};
  return machine;
}

ClusterSpec four_boxes() {
  ClusterSpec spec;
  spec.machine = two_slots();
  spec.nodes = 4;
  spec.gpus = 4;
  spec.fabric = FabricSpec{.link = link_type(6_GBps, 1_us, "infiniband"), .switch_latency = 200e-9 * 1_s};
  return spec;
}

/// Four cards, two at each of two sockets.
ClusterSpec two_sockets() {
  ClusterSpec spec;
  spec.gpus = 4;
  for (const char* number : {"0", "1"}) {
    const std::string cpu = std::string("cpu") + number;
    const std::string memory = std::string("memory") + number;
    spec.machine.devices.push_back({.name = cpu, .kind = DeviceKind::cpu});
    spec.machine.devices.push_back({.name = memory, .kind = DeviceKind::memory});
    spec.machine.connections.push_back({.from = cpu, .to = memory, .type = link_type(40_GBps, 0_us, "memory")});
  }
  for (const int card : {0, 1, 2, 3}) {
    const std::string name = "gpu" + std::to_string(card);
    spec.machine.devices.push_back({.name = name});
    spec.machine.connections.push_back(
        {.from = name, .to = card < 2 ? "cpu0" : "cpu1", .type = link_type(12_GBps, 1_us)});
  }
  spec.machine.connections.push_back({.from = "cpu0", .to = "cpu1", .type = link_type(20_GBps, 1_us, "socket")});
  return spec;
}

std::vector<std::string> names_of(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const DeviceId rank : cluster.ranks) names.push_back(cluster.topology.device(rank).name);
  return names;
}

}  // namespace

TEST_SUITE("topology") {
  TEST_CASE("packed ranks fill a box before the next") {
    CHECK(names_of(build_cluster(four_boxes())) ==
          std::vector<std::string>{"node0.gpu0", "node0.gpu1", "node1.gpu0", "node1.gpu1"});
  }

  TEST_CASE("spread ranks share the boxes evenly") {
    ClusterSpec spec = four_boxes();
    spec.placement = Placement::spread;
    CHECK(names_of(build_cluster(spec)) ==
          std::vector<std::string>{"node0.gpu0", "node1.gpu0", "node2.gpu0", "node3.gpu0"});
  }

  TEST_CASE("a route between boxes pays the switch once") {
    const Cluster cluster = build_cluster(four_boxes());
    const Route& route = cluster.topology.route(cluster.ranks[0], cluster.ranks[2]);
    CHECK(route.crosses_nodes);
    // slot, adapter, two network links and the switch, adapter, slot
    CHECK(route.latency.count() == doctest::Approx(6.2e-6).epsilon(1e-12));
  }

  TEST_CASE("a connection is no faster than the card's own bus") {
    ClusterSpec spec = four_boxes();
    spec.nodes = 1;
    spec.gpus = 2;
    spec.fabric.reset();
    spec.gpu_bus = BusOfCard{.type = link_type(6_GBps, 1_us), .lanes = 1};
    const Cluster cluster = build_cluster(spec);
    const Route& route = cluster.topology.route(cluster.ranks[0], cluster.ranks[1]);
    CHECK(cluster.topology.channels()[route.channels.front().index()].rate == 6_GBps);
  }

  TEST_CASE("a link to a device that is not there is refused with its place") {
    ClusterSpec spec = four_boxes();
    spec.machine.connections.push_back(
        {.from = "gpu7", .to = "cpu0", .type = link_type(1_GBps, 1_us), .place = {"box.yaml", 9, 5}});
    CHECK_THROWS_WITH_AS(build_cluster(spec), "box.yaml:9:5: error: link to 'gpu7', which is no device of the machine",
                         ScenarioError);
  }

  TEST_CASE("without GPUDirect a route between boxes rests in both host memories") {
    ClusterSpec spec = four_boxes();
    CHECK_FALSE(build_cluster(spec).topology.route(DeviceId(2), DeviceId(7)).staged);
    spec.machine.gpudirect = false;
    const Cluster cluster = build_cluster(spec);
    const Route& route = cluster.topology.route(cluster.ranks[0], cluster.ranks[2]);
    CHECK(route.staged);
    CHECK(route.links.size() == 10);  // up and into memory, out and to the adapter, two of the network, and back
    spec.gpudirect = true;            // the cluster's word comes before the machine's
    CHECK_FALSE(build_cluster(spec).topology.route(cluster.ranks[0], cluster.ranks[2]).staged);
  }

  TEST_CASE("peer-to-peer off takes NVLink away as well and leaves GPUDirect") {
    ClusterSpec spec = four_boxes();
    spec.machine.connections.push_back({.from = "gpu0", .to = "gpu1", .type = link_type(45_GBps, 1_us, "nvlink")});
    Cluster cluster = build_cluster(spec);
    CHECK(cluster.topology.route(cluster.ranks[0], cluster.ranks[1]).over_nvlink);
    spec.peer_to_peer = false;
    cluster = build_cluster(spec);
    const Route& inside = cluster.topology.route(cluster.ranks[0], cluster.ranks[1]);
    CHECK(inside.staged);
    CHECK_FALSE(inside.over_nvlink);
    CHECK_FALSE(cluster.topology.route(cluster.ranks[0], cluster.ranks[2]).staged);
  }

  TEST_CASE("peer-to-peer on overrules a card whose driver forbids it") {
    ClusterSpec spec = four_boxes();
    spec.gpu.peer_to_peer = false;
    CHECK(build_cluster(spec).topology.route(DeviceId(2), DeviceId(3)).staged);
    spec.peer_to_peer = true;
    CHECK_FALSE(build_cluster(spec).topology.route(DeviceId(2), DeviceId(3)).staged);
  }

  TEST_CASE("what a card sends and receives through host memory is one rate, over PCIe and the network") {
    ClusterSpec spec = four_boxes();
    spec.gpu.peer_to_peer = false;
    const Topology topology = build_cluster(spec, {.staged_rate = 5_GBps}).topology;
    const DeviceId first = topology.gpus().front();
    const ChannelId staged = topology.device(first).staged;
    CHECK(topology.channels()[staged.index()].rate == 10_GBps);
    for (const DeviceId other : {topology.gpus()[1], topology.gpus().back()}) {
      CHECK(std::ranges::count(topology.route(first, other).channels, staged) == 1);
      CHECK(std::ranges::count(topology.route(other, first).channels, staged) == 1);
    }
    CHECK_FALSE(build_cluster(spec).topology.device(first).staged.valid());
  }

  TEST_CASE("copies of one process rest in the memory of its first card, others in that of the sender") {
    ClusterSpec spec = two_sockets();
    spec.gpu.peer_to_peer = false;
    for (const bool one_memory : {false, true}) {
      CAPTURE(one_memory);
      const Topology topology = build_cluster(spec, {.one_memory = one_memory}).topology;
      const Route& route = topology.route(topology.gpus()[2], topology.gpus()[3]);
      const auto rests_in = [&](std::string_view memory) {
        return std::ranges::any_of(route.links, [&](LinkId link) {
          return topology.device(topology.links()[link.index()].to).name == memory;
        });
      };
      CHECK(rests_in("memory0") == one_memory);
      CHECK(rests_in("memory1") == !one_memory);
    }
  }

  TEST_CASE("cards share equally near adapters evenly and prefer the nearer") {
    ClusterSpec spec = four_boxes();
    spec.machine.devices.push_back({.name = "nic1", .kind = DeviceKind::nic});
    spec.machine.connections.push_back({.from = "nic1", .to = "cpu0", .type = link_type(12_GBps, 1_us)});
    const auto adapter_of = [](const Cluster& cluster, std::size_t rank) {
      return cluster.topology.device(cluster.topology.adapter(cluster.ranks[rank])).name;
    };
    const Cluster even = build_cluster(spec);
    CHECK(adapter_of(even, 0) == "node0.nic0");
    CHECK(adapter_of(even, 1) == "node0.nic1");
    CHECK(adapter_of(even, 3) == "node1.nic1");
    spec.machine.connections.back().type.latency = 2_us;  // now nic1 is farther from both
    CHECK(adapter_of(build_cluster(spec), 1) == "node0.nic0");
  }

  TEST_CASE("traffic to the adapter of the other socket loads the root complexes it passes") {
    ClusterSpec spec = four_boxes();
    spec.machine.devices.push_back({.name = "cpu1", .kind = DeviceKind::cpu, .peer_rate = 8_GBps});
    spec.machine.devices.push_back({.name = "gpu2"});
    spec.machine.connections.push_back({.from = "cpu0", .to = "cpu1", .type = link_type(30_GBps, 1_us, "socket")});
    spec.machine.connections.push_back({.from = "gpu2", .to = "cpu1", .type = link_type(12_GBps, 1_us)});
    spec.gpus = 12;
    const Cluster cluster = build_cluster(spec);
    const Route& near = cluster.topology.route(cluster.ranks[0], cluster.ranks[3]);
    const Route& far = cluster.topology.route(cluster.ranks[2], cluster.ranks[3]);
    CHECK(far.latency > near.latency);
    CHECK(far.channels.size() == near.channels.size() + 1 + kPassParts * 3 / 4);  // socket link and root complex
  }
}
