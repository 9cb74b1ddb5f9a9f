#include <cmath>
#include <doctest/doctest.h>

#include "property/collective/equal_machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// Runs every algorithm and collective with 2 to 64 ranks in both forms.
template <class Check>
void for_every_exchange(Check&& check) {
  for (const AlgorithmEntry& entry : exchange_algorithms()) {
    for (const Collective what : entry.collectives) {
      for (int ranks = 2; ranks <= 64; ++ranks) {
        if (!makes_sense(entry, what, ranks)) continue;
        const std::string which = case_name(entry, what, ranks);
        CAPTURE(which);
        const Machine machine = machine_for(entry.algorithm, ranks, 1_us);
        // One piece: those that overlap share links in the middle of steps.
        const bool in_pieces = entry.algorithm == ExchangeAlgorithm::hierarchical;
        const Bytes size = size_for(static_cast<std::size_t>(ranks)) / (in_pieces ? 1024.0 : 1.0);
        check(machine, run_exchange(entry, what, machine.topology, size, Fidelity::coupled, machine.transport),
              run_exchange(entry, what, machine.topology, size, Fidelity::stepwise, machine.transport));
      }
    }
  }
}

const AlgorithmEntry& hierarchical() {
  return *std::ranges::find(exchange_algorithms(), ExchangeAlgorithm::hierarchical, &AlgorithmEntry::algorithm);
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("coupled equals stepwise to the picosecond on idle equal links for every algorithm") {
    for_every_exchange([](const Machine&, const Run& coupled, const Run& stepwise) {
      CHECK(coupled.timeline.end == stepwise.timeline.end);
      CHECK(coupled.plan.size() <= 64);
    });
  }

  TEST_CASE("coupled and stepwise put the same bytes on every channel") {
    for_every_exchange([](const Machine& machine, const Run& coupled, const Run& stepwise) {
      for (std::size_t i = 0; i < machine.topology.channels().size(); ++i) {
        const double bytes = stepwise.timeline.channels[i].carried.count();
        CHECK(std::abs(coupled.timeline.channels[i].carried.count() - bytes) <= 1e-9 * bytes);
      }
    });
  }

  TEST_CASE("pieces of a hierarchical exchange that overlap differ from steps by latencies only") {
    // While a step of one piece waits for its latency, stepwise lets another piece have the links; coupled pays all
    // latencies of a move before its data. So they agree but for three times the latencies of a piece at most, whatever
    // the size: which large exchanges do not feel.
    for (const Collective what : hierarchical().collectives) {
      for (int ranks = 4; ranks <= 64; ranks += 2) {
        for (const double factor : {1.0, 16.0, 256.0}) {
          const std::string which = case_name(hierarchical(), what, ranks);
          CAPTURE(which);
          CAPTURE(factor);
          const Machine machine = machine_for(ExchangeAlgorithm::hierarchical, ranks, 1_us);
          const Bytes size = size_for(static_cast<std::size_t>(ranks)) * factor;
          const auto time = [&](Fidelity fidelity) {
            return exchange_end(run_exchange(hierarchical(), what, machine.topology, size, fidelity), 0);
          };
          const int in_box = ranks % 4 == 0 ? 4 : 2;
          const double steps = 2.0 * (in_box - 1) + 2.0 * (ranks / in_box - 1);
          constexpr Seconds kLongestStep = 6_us;  // card, switch, adapter, fabric and the same way down
          CHECK(std::abs((time(Fidelity::coupled) - time(Fidelity::stepwise)).count()) <=
                3.0 * steps * kLongestStep.count());
        }
      }
    }
  }
}
