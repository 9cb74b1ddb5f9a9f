// Sums in switches: of boxes (NVLS), of the network (SHARP), and inside a hierarchical exchange.

#include <algorithm>
#include <doctest/doctest.h>

#include "collective/algorithms.hpp"
#include "property/collective/exchanges.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr BytesPerSecond kNvlink{100e9};
constexpr BytesPerSecond kNetwork{25e9};

/// Boxes whose cards hang on an NVSwitch that sums, each with an adapter of its own; all adapters at one switch that
/// sums as well.
Topology summing_boxes(int boxes, int gpus, bool gpudirect = true) {
  TopologyBuilder builder;
  const DeviceId fabric = builder.add({.name = "switch", .kind = DeviceKind::network_switch, .node = -1});
  LinkType network = summing_link(kNetwork, Seconds());
  network.kind = "infiniband";
  for (int box = 0; box < boxes; ++box) {
    const std::string prefix = "node" + std::to_string(box) + ".";
    const DeviceId hub = builder.add({.name = prefix + "nvswitch", .kind = DeviceKind::nvswitch, .node = box});
    const DeviceId cpu = builder.add({.name = prefix + "cpu", .kind = DeviceKind::cpu, .node = box});
    const DeviceId memory = builder.add({.name = prefix + "memory", .kind = DeviceKind::memory, .node = box});
    builder.connect(cpu, memory, link_type(400_GBps, Seconds(), "memory"), 1);
    for (int i = 0; i < gpus; ++i) {
      const std::string number = std::to_string(i);
      const DeviceId gpu =
          builder.add({.name = prefix + "gpu" + number, .node = box, .peer_to_peer = true, .gpudirect = gpudirect});
      const DeviceId plx = builder.add({.name = prefix + "plx" + number, .kind = DeviceKind::pcie_switch, .node = box});
      const DeviceId nic = builder.add({.name = prefix + "nic" + number, .kind = DeviceKind::nic, .node = box});
      builder.connect(gpu, hub, summing_link(kNvlink, Seconds()), 1);
      builder.connect(gpu, plx, link_type(50_GBps, Seconds()), 1);
      builder.connect(plx, cpu, link_type(50_GBps, Seconds()), 1);
      builder.connect(plx, nic, link_type(50_GBps, Seconds()), 1);
      builder.connect(nic, fabric, network, 1);
    }
  }
  return std::move(builder).build();
}

const AlgorithmEntry& entry(ExchangeAlgorithm algorithm) {
  return *std::ranges::find(exchange_algorithms(), algorithm, &AlgorithmEntry::algorithm);
}

Transport sums_in(bool boxes, bool network) {
  Transport transport;
  transport.message = 1_us;  // small data then moves in one piece
  transport.protocols = {Protocol::simple};
  transport.in_switch = boxes;
  transport.in_network = network;
  return transport;
}

double time_of(ExchangeAlgorithm algorithm, Collective what, const Topology& machine, Bytes size,
               const Transport& transport, Fidelity fidelity = Fidelity::coupled) {
  return run_exchange(entry(algorithm), what, machine, size, fidelity, transport).timeline.end.since_start().count();
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("network switches that sum take each tensor once up and once down whatever the number of boxes") {
    for (const int boxes : {2, 3, 8, 32}) {
      CAPTURE(boxes);
      const Topology machine = summing_boxes(boxes, 1);
      CHECK(time_of(ExchangeAlgorithm::in_switch, Collective::all_reduce, machine, 400_MB, sums_in(false, true)) ==
            doctest::Approx(400e6 / 25e9).epsilon(1e-9));
    }
  }

  TEST_CASE("sums in the network equal those step by step") {
    const Topology machine = summing_boxes(4, 1);
    for (const Collective what : {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
      CAPTURE(name(what));
      CHECK(time_of(ExchangeAlgorithm::in_switch, what, machine, 400_MB, sums_in(false, true)) ==
            time_of(ExchangeAlgorithm::in_switch, what, machine, 400_MB, sums_in(false, true), Fidelity::stepwise));
    }
  }

  TEST_CASE("the network sums only where transport and adapters let it") {
    const auto fits = [](const Topology& machine, const Transport& transport) {
      PlanBuilder plan;
      const RankGroup group(machine, participants_of(machine, plan), transport, &plan_time);
      return can_do(entry(ExchangeAlgorithm::in_switch), Collective::all_reduce, group);
    };
    CHECK(fits(summing_boxes(4, 1), sums_in(false, true)));
    CHECK_FALSE(fits(summing_boxes(4, 1), sums_in(true, false)));
    CHECK_FALSE(fits(summing_boxes(4, 1, false), sums_in(false, true)));
    CHECK_FALSE(fits(summing_boxes(4, 2), sums_in(false, true)));  // that is the hierarchical exchange's
    CHECK(fits(summing_boxes(1, 4), sums_in(true, false)));
    CHECK_FALSE(fits(summing_boxes(1, 4), sums_in(false, true)));
  }

  TEST_CASE("a hierarchical exchange sums in the switches of its boxes where that is faster") {
    // One piece, one box after the other in time: up S and down S/4 inside, S/4 over each adapter in a ring of three,
    // up S/4 and down S; by rings each phase inside takes 3/4 S.
    const Topology machine = summing_boxes(3, 4);
    const double size = 1e6;
    const double outside = 2.0 * 2.0 / 3.0 * size / 4.0 / 25e9;
    const double steps_outside = 4 * 1e-6;
    const auto time = [&](bool boxes) {
      return time_of(ExchangeAlgorithm::hierarchical, Collective::all_reduce, machine, Bytes(size),
                     sums_in(boxes, false));
    };
    CHECK(time(false) <= 2 * 0.75 * size / 100e9 + outside + steps_outside + 2 * 3 * 1e-6 + 1e-9);
    CHECK(time(true) == doctest::Approx(2 * size / 100e9 + outside + steps_outside).epsilon(0.02));
    CHECK(time(true) < time(false));
  }

  TEST_CASE("boxes and network sum together") {
    const Topology machine = summing_boxes(16, 4);
    const double by_ring =
        time_of(ExchangeAlgorithm::hierarchical, Collective::all_reduce, machine, 400_MB, sums_in(true, false));
    const double by_network =
        time_of(ExchangeAlgorithm::hierarchical, Collective::all_reduce, machine, 400_MB, sums_in(true, true));
    CHECK(by_network < by_ring);
    CHECK(by_network >= 400e6 / 4.0 / 25e9);
  }
}
