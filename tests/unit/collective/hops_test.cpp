#include "collective/hops.hpp"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>

#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// A link type of which the simple protocol delivers a part.
LinkType in_part(BytesPerSecond rate, double part, std::string kind = "pcie") {
  LinkType type = link_type(rate, Seconds(), std::move(kind));
  LinkExchange exchange;
  exchange.protocols[static_cast<std::size_t>(Protocol::simple)] = LinkProtocol{.delivered = part};
  type.exchange = std::make_shared<const LinkExchange>(exchange);
  return type;
}

/// Two cards, each with a bus of its own to a switch, and what joins the switches.
Topology two_buses(const LinkType& bus, const LinkType& between) {
  TopologyBuilder builder;
  std::vector<DeviceId> hubs;
  for (int i = 0; i < 2; ++i) {
    const std::string number = std::to_string(i);
    hubs.push_back(builder.add({.name = "switch" + number, .kind = DeviceKind::pcie_switch}));
    builder.connect(builder.add({.name = "gpu" + number, .peer_to_peer = true}), hubs.back(), bus, 1);
  }
  builder.connect(hubs[0], hubs[1], between, 1);
  return std::move(builder).build();
}

Transport simple_only() {
  Transport transport;
  transport.protocols = {Protocol::simple};
  return transport;
}

BytesPerSecond ceiling(const Topology& machine, const Transport& transport) {
  return hop(machine, machine.gpus()[0], machine.gpus()[1], transport).ceiling(machine);
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("a protocol holds the links of which it delivers a part and no others") {
    // 0.9 of 50 GB/s does not hold a copy that the 10 GB/s between hold; 0.1 does.
    for (const double part : {0.9, 0.1}) {
      CAPTURE(part);
      const Topology machine = two_buses(in_part(50_GBps, part), link_type(10_GBps, Seconds(), "socket"));
      CHECK(ceiling(machine, simple_only()) == BytesPerSecond(50e9 * part));
      CHECK(hop(machine, machine.gpus()[0], machine.gpus()[1], simple_only()).pace(machine) == 10_GBps);
    }
    const Topology machine = two_buses(link_type(50_GBps, Seconds()), in_part(10_GBps, 0.5, "socket"));
    CHECK(ceiling(machine, simple_only()) == 5_GBps);
  }

  TEST_CASE("a protocol takes its part of a ceiling of the bus as well") {
    Transport transport = simple_only();
    transport.direct_rate = 20_GBps;
    const Topology machine = two_buses(in_part(50_GBps, 0.5), link_type(100_GBps, Seconds(), "socket"));
    CHECK(ceiling(machine, transport) == 10_GBps);
  }

  TEST_CASE("copies through host memory crowd each other down to a least rate") {
    Transport transport;
    transport.staged_crowd = 80_GBps;
    transport.staged_least = 12_GBps;
    for (const int ranks : {2, 4, 8, 16}) {
      CAPTURE(ranks);
      const Topology machine = desktop_of(ranks, 100_GBps, 10000_GBps);
      HopCollector ring(machine, transport, Protocol::simple);
      for (std::size_t i = 0; i < machine.gpus().size(); ++i) {
        ring.add(machine.gpus()[i], machine.gpus()[(i + 1) % machine.gpus().size()]);
      }
      const double h = ranks;
      CHECK(ring.take().cap.count() == doctest::Approx(std::max(80e9 / h, 12e9) / h).epsilon(1e-12));
    }
  }

  TEST_CASE("of channels that all sets load alike one is enough") {
    const Topology machine = star_of(4, 10_GBps);
    HopCollector there(machine, {}, Protocol::simple);
    HopCollector back(machine, {}, Protocol::simple);
    for (std::size_t i = 0; i < 4; ++i) {
      there.add(machine.gpus()[i], machine.gpus()[(i + 1) % 4]);
      back.add(machine.gpus()[(i + 1) % 4], machine.gpus()[i], i == 0 ? 2.0 : 1.0);
    }
    const Hops forth = there.take();
    const Hops other = back.take();
    // One of the eight for the six loaded by one byte each way, one for the two by two bytes the other way.
    CHECK(binding_channels(machine, std::array{&forth, &other}).size() == 2);
    CHECK(binding_channels(machine, std::array{&other}).size() == 1);
    const std::vector<ChannelId> tightest = binding_channels(machine, std::array{&other});
    CHECK(only(other, tightest).pace(machine) == other.pace(machine));
  }
}
