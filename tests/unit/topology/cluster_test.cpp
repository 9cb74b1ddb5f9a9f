#include "topology/cluster.hpp"

#include <doctest/doctest.h>

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
}
