// Times of exchanges alone name few channels and no lanes; they are those of the whole plan.

#include <doctest/doctest.h>

#include "collective/choose.hpp"
#include "property/collective/exchanges.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// Boxes with adapters of unlike rates, so that no two channels are loaded alike.
Topology unlike_boxes(int boxes, int gpus) {
  TopologyBuilder builder;
  const DeviceId fabric = builder.add({.name = "switch", .kind = DeviceKind::network_switch, .node = -1});
  for (int box = 0; box < boxes; ++box) {
    const std::string prefix = "node" + std::to_string(box) + ".";
    const DeviceId hub = builder.add({.name = prefix + "hub", .kind = DeviceKind::pcie_switch, .node = box});
    const DeviceId nic = builder.add({.name = prefix + "nic", .kind = DeviceKind::nic, .node = box});
    const BytesPerSecond rate((3.0 + box) * 1e9);
    builder.connect(hub, nic, link_type(rate, 1_us), 1);
    builder.connect(nic, fabric, link_type(rate * 0.9, 1_us, "infiniband"), 1);
    for (int i = 0; i < gpus; ++i) {
      const DeviceId gpu = builder.add(
          {.name = prefix + "gpu" + std::to_string(i), .node = box, .peer_to_peer = true, .gpudirect = true});
      builder.connect(gpu, hub, link_type(BytesPerSecond((8.0 + i) * 1e9), 1_us), 1);
    }
  }
  return std::move(builder).build();
}

/// Whether moves of one exchange go on at the same time.
bool overlaps(ExchangeAlgorithm algorithm) {
  return algorithm == ExchangeAlgorithm::hierarchical || algorithm == ExchangeAlgorithm::halving_doubling;
}

void check_alone(const Topology& machine) {
  for (const AlgorithmEntry& entry : exchange_algorithms()) {
    PlanBuilder lanes;
    const RankGroup group(machine, participants_of(machine, lanes), {}, &plan_time);
    for (const Collective what : entry.collectives) {
      if (what == Collective::send || !can_do(entry, what, group)) continue;
      for (const Bytes size : {Bytes(64e3), 100_MB}) {
        CAPTURE(name(entry.algorithm));
        CAPTURE(name(what));
        CAPTURE(size.count());
        Exchange exchange;
        exchange.size = size;
        const Run whole = run_exchange(entry, what, machine, size, Fidelity::coupled);
        const Seconds alone = time_alone(group, what, exchange, entry.algorithm, Protocol::simple);
        // Alone it is one task a move, however many parts and steps that has: a thousandth where they overlap.
        if (overlaps(entry.algorithm)) {
          CHECK(alone / whole.timeline.end.since_start() == doctest::Approx(1.0).epsilon(2e-3));
        } else {
          CHECK(Time().after(alone) == whole.timeline.end);
        }
      }
    }
  }
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("an exchange timed alone takes what it takes in a plan that names every channel") {
    check_alone(star_of(6, 12_GBps, 1_us));
    check_alone(boxes_of(3, 4, 10_GBps, 1_us));
    check_alone(unlike_boxes(3, 4));
  }

  TEST_CASE("trees of a thousand ranks take no jump where their steps are no longer moved one by one") {
    const auto time = [](int ranks, Bytes size) {
      const Topology machine = star_of(ranks, 12_GBps, 1_us);
      PlanBuilder lanes;
      const RankGroup group(machine, participants_of(machine, lanes), {}, &plan_time);
      Exchange exchange;
      exchange.size = size;
      return time_alone(group, Collective::all_reduce, exchange, ExchangeAlgorithm::double_tree, Protocol::simple);
    };
    for (const Bytes size : {Bytes(1e3), 1_MB, 100_MB}) {
      CAPTURE(size.count());
      CHECK(time(1025, size) / time(1024, size) == doctest::Approx(1.0).epsilon(0.1));
    }
  }
}
