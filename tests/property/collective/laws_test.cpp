#include <algorithm>
#include <doctest/doctest.h>
#include <random>

#include "property/collective/equal_machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// Cards on one switch, each on a link of its own rate.
Topology uneven_star(const std::vector<BytesPerSecond>& rates) {
  TopologyBuilder builder;
  const DeviceId hub = builder.add({.name = "switch", .kind = DeviceKind::pcie_switch});
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const DeviceId gpu = builder.add({.name = "gpu" + std::to_string(i), .peer_to_peer = true});
    builder.connect(gpu, hub, link_type(rates[i], 1_us), 1);
  }
  return std::move(builder).build();
}

double seconds(const Run& run) { return run.timeline.end.since_start().count(); }

/// Algorithms that need no more than cards on a switch.
bool runs_on_star(const AlgorithmEntry& entry, Collective what, std::size_t ranks) {
  if (entry.algorithm == ExchangeAlgorithm::hierarchical || entry.algorithm == ExchangeAlgorithm::in_switch)
    return false;
  return makes_sense(entry, what, static_cast<int>(ranks));
}

/// The same exchange over links of these rates.
double time_over(const AlgorithmEntry& entry, Collective what, Bytes size, const std::vector<BytesPerSecond>& rates) {
  return seconds(run_exchange(entry, what, uneven_star(rates), size, Fidelity::coupled));
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("more bandwidth never slows a single exchange of any algorithm") {
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      const std::size_t ranks = 2 + random() % 15;
      std::vector<BytesPerSecond> rates;
      for (std::size_t r = 0; r < ranks; ++r) rates.emplace_back(1e9 * static_cast<double>(1 + random() % 16));
      std::vector<BytesPerSecond> faster = rates;
      faster[random() % ranks] = BytesPerSecond(17e9);
      const Bytes size(static_cast<double>(1 + random() % 1000) * 1e5);
      for (const AlgorithmEntry& entry : exchange_algorithms()) {
        for (const Collective what : entry.collectives) {
          if (!runs_on_star(entry, what, ranks)) continue;
          const std::string which = case_name(entry, what, static_cast<int>(ranks));
          CAPTURE(which);
          CAPTURE(i);
          CHECK(time_over(entry, what, size, faster) <= time_over(entry, what, size, rates) + 1e-12);
        }
      }
    }
  }

  TEST_CASE("a reversed order of ranks changes nothing where all ranks do the same") {
    std::mt19937 random(8);
    for (int i = 0; i < 200; ++i) {
      const std::size_t ranks = 2 + random() % 15;
      std::vector<BytesPerSecond> rates;
      for (std::size_t r = 0; r < ranks; ++r) rates.emplace_back(1e9 * static_cast<double>(1 + random() % 16));
      const Bytes size(static_cast<double>(1 + random() % 1000) * 1e5);
      for (const AlgorithmEntry& entry : exchange_algorithms()) {
        const bool alike = entry.algorithm == ExchangeAlgorithm::ring || entry.algorithm == ExchangeAlgorithm::direct ||
                           entry.algorithm == ExchangeAlgorithm::one_shot;
        if (!alike) continue;
        CAPTURE(name(entry.algorithm));
        CAPTURE(ranks);
        CHECK(time_over(entry, Collective::all_reduce, size, {rates.rbegin(), rates.rend()}) ==
              doctest::Approx(time_over(entry, Collective::all_reduce, size, rates)).epsilon(1e-9));
      }
    }
  }
}
