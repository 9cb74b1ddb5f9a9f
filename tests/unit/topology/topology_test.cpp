#include "topology/topology.hpp"

#include <algorithm>
#include <doctest/doctest.h>

#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

DeviceId device_named(const Topology& topology, std::string_view name) {
  for (std::size_t i = 0; i < topology.devices().size(); ++i) {
    if (topology.devices()[i].name == name) return DeviceId(i);
  }
  return {};
}

}  // namespace

TEST_SUITE("topology") {
  TEST_CASE("a route below one switch crosses two links") {
    const Topology machine = star_of(2, 12_GBps, 1_us);
    const Route& route = machine.route(machine.gpus()[0], machine.gpus()[1]);
    CHECK(route.channels.size() == 2);
    CHECK(route.latency == 2_us);
    CHECK_FALSE(route.staged);
  }

  TEST_CASE("cards without peer-to-peer copy through host memory which they use twice") {
    const Topology machine = desktop_of(2, 12_GBps, 40_GBps);
    const Route& route = machine.route(machine.gpus()[0], machine.gpus()[1]);
    CHECK(route.staged);
    REQUIRE(route.channels.size() == 4);            // up, into memory, out of memory, down
    CHECK(route.channels[1] == route.channels[2]);  // half duplex: one channel both ways
  }

  TEST_CASE("NVLink is taken where it exists even if cards may not copy over PCIe") {
    TopologyBuilder builder;
    const DeviceId a = builder.add({.name = "gpu0", .peer_to_peer = false});
    const DeviceId b = builder.add({.name = "gpu1", .peer_to_peer = false});
    const DeviceId cpu = builder.add({.name = "cpu0", .kind = DeviceKind::cpu});
    const DeviceId memory = builder.add({.name = "memory0", .kind = DeviceKind::memory});
    builder.connect(a, cpu, link_type(12_GBps, 1_us), 1);
    builder.connect(b, cpu, link_type(12_GBps, 1_us), 1);
    builder.connect(cpu, memory, link_type(40_GBps, 0_us, "memory"), 1);
    builder.connect(a, b, link_type(45_GBps, 1_us, "nvlink"), 1);
    const Topology machine = std::move(builder).build();
    CHECK(machine.route(a, b).over_nvlink);
    CHECK(machine.route(a, b).channels.size() == 1);
  }

  TEST_CASE("a GPU forwards nothing") {
    // gpu0 - gpu1 - gpu2 in a chain of NVLinks; gpu0 reaches gpu2 over the switch only.
    TopologyBuilder builder;
    std::vector<DeviceId> gpus;
    for (int i = 0; i < 3; ++i) gpus.push_back(builder.add({.name = "gpu" + std::to_string(i), .peer_to_peer = true}));
    const DeviceId hub = builder.add({.name = "switch", .kind = DeviceKind::pcie_switch});
    for (const DeviceId gpu : gpus) builder.connect(gpu, hub, link_type(12_GBps, 1_us), 1);
    builder.connect(gpus[0], gpus[1], link_type(25_GBps, 1_us, "nvlink"), 1);
    builder.connect(gpus[1], gpus[2], link_type(25_GBps, 1_us, "nvlink"), 1);
    const Topology machine = std::move(builder).build();
    CHECK_FALSE(machine.route(gpus[0], gpus[2]).over_nvlink);
    CHECK(machine.route(gpus[0], gpus[1]).over_nvlink);
  }

  TEST_CASE("peer traffic through a root complex loads its own rate as well") {
    TopologyBuilder builder;
    const ChannelId limit = builder.add_channel("root", 9_GBps);
    const DeviceId cpu = builder.add({.name = "cpu0", .kind = DeviceKind::cpu, .through = limit});
    const DeviceId a = builder.add({.name = "gpu0", .peer_to_peer = true});
    const DeviceId b = builder.add({.name = "gpu1", .peer_to_peer = true});
    builder.connect(a, cpu, link_type(12_GBps, 1_us), 1);
    builder.connect(b, cpu, link_type(12_GBps, 1_us), 1);
    const Topology machine = std::move(builder).build();
    const Route& route = machine.route(a, b);
    CHECK(std::ranges::count(route.channels, limit) == kPassParts);
  }

  TEST_CASE(
      "peer traffic between sockets loads both root complexes by three quarters and copies in host memory neither") {
    TopologyBuilder builder;
    std::vector<ChannelId> limits;
    std::vector<DeviceId> cpus;
    std::vector<DeviceId> gpus;
    std::vector<DeviceId> memories;
    for (int i = 0; i < 2; ++i) {
      const std::string number = std::to_string(i);
      limits.push_back(builder.add_channel("root" + number, 9_GBps));
      cpus.push_back(builder.add({.name = "cpu" + number, .kind = DeviceKind::cpu, .through = limits.back()}));
      gpus.push_back(builder.add({.name = "gpu" + number, .peer_to_peer = true}));
      memories.push_back(builder.add({.name = "memory" + number, .kind = DeviceKind::memory}));
      builder.connect(gpus.back(), cpus.back(), link_type(12_GBps, 1_us), 1);
      builder.connect(memories.back(), cpus.back(), link_type(60_GBps, 0_us, "memory"), 1);
    }
    builder.connect(cpus[0], cpus[1], link_type(15_GBps, 1_us, "socket"), 1);
    const Topology machine = std::move(builder).build();
    for (const ChannelId limit : limits) {
      CHECK(std::ranges::count(machine.route(gpus[0], gpus[1]).channels, limit) == kPassParts * 3 / 4);
      CHECK(std::ranges::count(machine.route(gpus[0], memories[1]).channels, limit) == 0);
    }
  }

  TEST_CASE("the links of a device are those that leave it") {
    const Topology machine = star_of(3, 10_GBps);
    for (std::size_t i = 0; i < machine.devices().size(); ++i) {
      const DeviceId device(i);
      CHECK(machine.links_from(device).size() == (machine.device(device).kind == DeviceKind::gpu ? 1 : 3));
      for (const LinkId id : machine.links_from(device)) CHECK(machine.links()[id.index()].from == device);
    }
  }

  TEST_CASE("a GPU that no link reaches is named") {
    TopologyBuilder builder;
    builder.add({.name = "gpu0", .peer_to_peer = true});
    builder.add({.name = "gpu1", .peer_to_peer = true});
    CHECK_THROWS_WITH_AS(std::move(builder).build(),
                         "error: no way from gpu0 to gpu1; connect their machine's devices with links", ScenarioError);
  }

  TEST_CASE("a card that needs host memory and has none in reach is named") {
    TopologyBuilder builder;
    const DeviceId a = builder.add({.name = "gpu0", .peer_to_peer = false});
    const DeviceId b = builder.add({.name = "gpu1", .peer_to_peer = false});
    builder.connect(a, b, link_type(12_GBps, 1_us), 1);
    CHECK_THROWS_AS(std::move(builder).build(), ScenarioError);
  }

  TEST_CASE("the nearest memory is that of the card's own socket") {
    TopologyBuilder builder;
    std::vector<DeviceId> cpus;
    for (int i = 0; i < 2; ++i) {
      const std::string number = std::to_string(i);
      cpus.push_back(builder.add({.name = "cpu" + number, .kind = DeviceKind::cpu}));
      const DeviceId memory = builder.add({.name = "memory" + number, .kind = DeviceKind::memory});
      const DeviceId gpu = builder.add({.name = "gpu" + number, .peer_to_peer = false});
      builder.connect(cpus.back(), memory, link_type(60_GBps, 0_us, "memory"), 1);
      builder.connect(cpus.back(), gpu, link_type(12_GBps, 1_us), 1);
    }
    builder.connect(cpus[0], cpus[1], link_type(15_GBps, 1_us, "socket"), 1);
    const Topology machine = std::move(builder).build();
    CHECK(machine.host_memory(device_named(machine, "gpu1")) == device_named(machine, "memory1"));
  }
}
