#include <cmath>
#include <doctest/doctest.h>

#include "property/collective/equal_machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// Factors of the size: a hierarchical exchange goes in one piece if it is small, and in up to eight.
std::vector<double> pieces_of(ExchangeAlgorithm algorithm) {
  if (algorithm == ExchangeAlgorithm::hierarchical) return {1.0 / 1024.0, 1.0, 16.0};
  return {1.0};
}

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
        for (const double pieces : pieces_of(entry.algorithm)) {
          CAPTURE(pieces);
          const Bytes size = size_for(static_cast<std::size_t>(ranks)) * pieces;
          check(machine, run_exchange(entry, what, machine.topology, size, Fidelity::coupled, machine.transport),
                run_exchange(entry, what, machine.topology, size, Fidelity::stepwise, machine.transport));
        }
      }
    }
  }
}

std::size_t transfers(const Plan& plan) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) count += plan.task(TaskId(i)).is_transfer ? 1 : 0;
  return count;
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("coupled equals stepwise to the picosecond on idle equal links for every algorithm") {
    for_every_exchange([](const Machine&, const Run& coupled, const Run& stepwise) {
      CHECK(coupled.timeline.end == stepwise.timeline.end);
      CHECK(transfers(coupled.plan) <= 2048);
      CHECK(transfers(coupled.plan) <= transfers(stepwise.plan));
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
}
