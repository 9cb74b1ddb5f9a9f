#include <doctest/doctest.h>
#include <numeric>

#include "property/collective/exchanges.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// Bytes whose share by ranks, chunks and rates is whole picoseconds for every number of ranks up to 64: at
/// 1 GB/s a byte takes 1,000 ps.
Bytes size_for(std::size_t ranks) { return Bytes(static_cast<double>(ranks) * 64.0 * 1024.0); }

constexpr BytesPerSecond kRate{1e9};

struct Machine {
  Topology topology;
  Transport transport;
};

/// The most even number of rows; 1 if there is no torus of so many.
int rows_of(int ranks) {
  int rows = 1;
  for (int a = 2; a * a <= ranks; ++a) {
    if (ranks % a == 0) rows = a;
  }
  return rows;
}

Machine machine_for(ExchangeAlgorithm algorithm, int ranks, Seconds latency) {
  if (algorithm == ExchangeAlgorithm::in_switch) return {nvswitch_of(ranks, kRate, latency), summing_transport()};
  if (algorithm == ExchangeAlgorithm::torus)
    return {torus_of(rows_of(ranks), ranks / rows_of(ranks), kRate, latency), {}};
  if (algorithm != ExchangeAlgorithm::hierarchical) return {star_of(ranks, kRate, latency), {}};
  const int in_box = ranks % 4 == 0 ? 4 : 2;
  return {boxes_of(ranks / in_box, in_box, kRate, latency), {}};
}

bool makes_sense(const AlgorithmEntry& entry, Collective what, int ranks) {
  const bool power = (ranks & (ranks - 1)) == 0;
  if (entry.algorithm == ExchangeAlgorithm::hierarchical) return ranks >= 4 && ranks % 2 == 0;
  if (entry.algorithm == ExchangeAlgorithm::torus) return rows_of(ranks) > 1;
  if (entry.algorithm == ExchangeAlgorithm::halving_doubling && what != Collective::all_reduce) return power;
  return what != Collective::send || ranks == 2;
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("coupled equals stepwise to the picosecond on idle equal links for every algorithm") {
    for (const AlgorithmEntry& entry : exchange_algorithms()) {
      for (const Collective what : entry.collectives) {
        for (int ranks = 2; ranks <= 64; ++ranks) {
          if (!makes_sense(entry, what, ranks)) continue;
          const std::string case_name =
              std::string(name(entry.algorithm)) + " " + std::string(name(what)) + " " + std::to_string(ranks);
          CAPTURE(case_name);
          const Machine machine = machine_for(entry.algorithm, ranks, 1_us);
          // One piece: those that overlap share links in the middle of steps.
          const bool in_pieces = entry.algorithm == ExchangeAlgorithm::hierarchical;
          const Bytes size = size_for(static_cast<std::size_t>(ranks)) / (in_pieces ? 1024.0 : 1.0);
          const Run coupled = run_exchange(entry, what, machine.topology, size, Fidelity::coupled, machine.transport);
          const Run stepwise = run_exchange(entry, what, machine.topology, size, Fidelity::stepwise, machine.transport);
          CHECK(coupled.timeline.end == stepwise.timeline.end);
          CHECK(coupled.plan.size() <= 64);
        }
      }
    }
  }
}
