#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <random>

#include "property/collective/exchanges.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr std::array kPlain = {ExchangeAlgorithm::ring, ExchangeAlgorithm::direct, ExchangeAlgorithm::one_shot,
                               ExchangeAlgorithm::double_tree, ExchangeAlgorithm::halving_doubling};

const AlgorithmEntry& entry_of(ExchangeAlgorithm algorithm) {
  return *std::ranges::find(exchange_algorithms(), algorithm, &AlgorithmEntry::algorithm);
}

/// Cards on one switch, each on a link of its own rate, numbered as `order` says.
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

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("every byte that leaves a card arrives at one and volumes are those of the textbook") {
    for (const int ranks : {2, 4, 8, 16}) {
      for (const ExchangeAlgorithm algorithm : kPlain) {
        CAPTURE(ranks);
        CAPTURE(name(algorithm));
        const Topology machine = star_of(ranks, 1_GBps);
        const double size = 64e6;
        const Run run =
            run_exchange(entry_of(algorithm), Collective::all_reduce, machine, Bytes(size), Fidelity::coupled);
        double sent = 0;
        double received = 0;
        for (std::size_t i = 0; i < machine.links().size(); ++i) {
          const Link& link = machine.links()[i];
          const double carried = run.timeline.channels[link.channel.index()].carried.count();
          (machine.device(link.from).kind == DeviceKind::gpu ? sent : received) += carried;
        }
        CHECK(sent == doctest::Approx(received).epsilon(1e-9));
        const double n = ranks;
        const double volume = algorithm == ExchangeAlgorithm::one_shot ? n * (n - 1) : 2 * (n - 1);
        CHECK(sent == doctest::Approx(volume * size).epsilon(1e-9));
      }
    }
  }

  TEST_CASE("more bandwidth never slows a single exchange and a reversed order of cards changes nothing") {
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      const std::size_t ranks = 2 + random() % 15;
      std::vector<BytesPerSecond> rates;
      for (std::size_t r = 0; r < ranks; ++r) rates.emplace_back(1e9 * static_cast<double>(1 + random() % 16));
      std::vector<BytesPerSecond> faster = rates;
      faster[random() % ranks] = BytesPerSecond(17e9);
      const Bytes size(static_cast<double>(1 + random() % 1000) * 1e5);
      for (const ExchangeAlgorithm algorithm : {ExchangeAlgorithm::ring, ExchangeAlgorithm::direct}) {
        CAPTURE(name(algorithm));
        CAPTURE(ranks);
        const auto time = [&](const std::vector<BytesPerSecond>& links) {
          return seconds(
              run_exchange(entry_of(algorithm), Collective::all_reduce, uneven_star(links), size, Fidelity::coupled));
        };
        CHECK(time(faster) <= time(rates) + 1e-12);
        CHECK(time({rates.rbegin(), rates.rend()}) == doctest::Approx(time(rates)).epsilon(1e-9));
      }
    }
  }

  TEST_CASE("coupled is within a hundredth of stepwise beside other traffic") {
    for (const ExchangeAlgorithm algorithm : {ExchangeAlgorithm::ring, ExchangeAlgorithm::direct}) {
      for (const int ranks : {2, 4, 8, 16}) {
        CAPTURE(name(algorithm));
        CAPTURE(ranks);
        const Topology machine = star_of(ranks, 1_GBps);
        Transfer other;
        other.amount = 500_MB;
        other.loads = {{machine.links()[0].channel, 1.0}};
        const auto time = [&](Fidelity fidelity) {
          return seconds(
              run_exchange(entry_of(algorithm), Collective::all_reduce, machine, 100_MB, fidelity, {}, {other}));
        };
        CHECK(time(Fidelity::coupled) == doctest::Approx(time(Fidelity::stepwise)).epsilon(0.01));
      }
    }
  }
}
