#include "collective/rail_rings.hpp"

#include <doctest/doctest.h>
#include <set>

#include "topology/cluster.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr int kCards = 4;

/// Cards on an NVSwitch in each box; `adapters` of their PCIe switches have an adapter, or one serves all.
ClusterSpec boxes(int nodes, int adapters) {
  ClusterSpec spec;
  const LinkType slot = link_type(12_GBps, 1_us);
  std::vector<DeviceSpec>& devices = spec.machine.devices;
  std::vector<ConnectionSpec>& links = spec.machine.connections;
  devices = {{.name = "cpu0", .kind = DeviceKind::cpu},
             {.name = "memory0", .kind = DeviceKind::memory},
             {.name = "nvswitch0", .kind = DeviceKind::nvswitch}};
  links = {{.from = "cpu0", .to = "memory0", .type = link_type(40_GBps, 0_us, "memory")}};
  for (int i = 0; i < kCards; ++i) {
    const std::string number = std::to_string(i);
    devices.push_back({.name = "plx" + number, .kind = DeviceKind::pcie_switch});
    devices.push_back({.name = "gpu" + number});
    links.push_back({.from = "plx" + number, .to = "cpu0", .type = slot});
    links.push_back({.from = "gpu" + number, .to = "plx" + number, .type = slot});
    links.push_back({.from = "gpu" + number, .to = "nvswitch0", .type = link_type(200_GBps, 1_us, "nvlink")});
    if (i >= adapters) continue;
    devices.push_back({.name = "nic" + number, .kind = DeviceKind::nic});
    links.push_back({.from = "nic" + number, .to = "plx" + number, .type = slot});
  }
  spec.gpu.peer_to_peer = true;
  spec.gpus = nodes * kCards;
  spec.nodes = nodes;
  spec.fabric = FabricSpec{.link = link_type(6_GBps, 1_us, "infiniband")};
  return spec;
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("a ring over boxes runs once over each adapter") {
    const Cluster cluster = build_cluster(boxes(3, kCards));
    const std::vector<Ring> rings = rail_rings(cluster.topology, cluster.ranks);
    REQUIRE(rings.size() == kCards);
    std::set<std::size_t> leaving;
    for (const Ring& ring : rings) {
      std::set<std::size_t> visited;
      for (const Leg& leg : ring) {
        visited.insert(leg.from);
        if (leg.from < kCards && leg.to >= kCards) leaving.insert(leg.from);
      }
      CHECK(visited.size() == 3 * kCards);
    }
    CHECK(leaving.size() == kCards);  // each ring leaves the first box from another card
  }

  TEST_CASE("one adapter a box needs one ring") {
    const Cluster cluster = build_cluster(boxes(2, 1));
    CHECK(rail_rings(cluster.topology, cluster.ranks).empty());
  }

  TEST_CASE("one box needs no rails") {
    const Cluster cluster = build_cluster(boxes(1, kCards));
    CHECK(rail_rings(cluster.topology, cluster.ranks).empty());
  }
}
