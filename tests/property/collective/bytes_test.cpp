#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "collective/all_reduce.hpp"
#include "property/collective/equal_machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// Bytes that left a card and that came to one, by card. A link between two cards counts at both.
struct CardBytes {
  std::vector<double> sent;
  std::vector<double> received;

  [[nodiscard]] double all_sent() const { return std::accumulate(sent.begin(), sent.end(), 0.0); }
  [[nodiscard]] double all_received() const { return std::accumulate(received.begin(), received.end(), 0.0); }
};

CardBytes card_bytes(const Topology& topology, const Timeline& timeline) {
  CardBytes bytes{std::vector<double>(topology.devices().size()), std::vector<double>(topology.devices().size())};
  for (const Link& link : topology.links()) {
    const double carried = timeline.channels[link.channel.index()].carried.count();
    if (topology.device(link.from).kind == DeviceKind::gpu) bytes.sent[link.from.index()] += carried;
    if (topology.device(link.to).kind == DeviceKind::gpu) bytes.received[link.to.index()] += carried;
  }
  return bytes;
}

/// What all cards send together, as multiples of the tensor. All that is not said here moves every part to each of
/// the other ranks once, and a sum once more.
double volume(const AlgorithmEntry& entry, Collective what, double ranks) {
  const bool all_reduce = what == Collective::all_reduce;
  if (entry.algorithm == ExchangeAlgorithm::in_switch)  // a tensor up from each to be summed, one part up to be spread
    return (what == Collective::all_gather ? 0.0 : ranks) + (what == Collective::reduce_scatter ? 0.0 : 1.0);
  if (entry.algorithm == ExchangeAlgorithm::one_shot) return ranks * (ranks - 1.0);
  return (all_reduce ? 2.0 : 1.0) * (ranks - 1.0);
}

/// What all cards receive: the same but for switches, which hand out once what they have summed, and to all what they
/// have been given once.
double volume_received(const AlgorithmEntry& entry, Collective what, double ranks) {
  if (entry.algorithm != ExchangeAlgorithm::in_switch) return volume(entry, what, ranks);
  return (what == Collective::all_gather ? 0.0 : 1.0) + (what == Collective::reduce_scatter ? 0.0 : ranks);
}

/// Cards on one switch, and what each is to send to each.
struct Dispatch {
  Topology topology;
  std::vector<std::vector<Bytes>> bytes;
};

Dispatch random_dispatch(std::mt19937& random) {
  const std::size_t ranks = 2 + random() % 15;
  Dispatch dispatch{star_of(static_cast<int>(ranks), 1_GBps, 1_us),
                    std::vector<std::vector<Bytes>>(ranks, std::vector<Bytes>(ranks))};
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (random() % 4 != 0) dispatch.bytes[from][to] = Bytes(static_cast<double>(random() % 1'000'000));
    }
  }
  return dispatch;
}

Timeline run_dispatch(const Dispatch& dispatch, Fidelity fidelity) {
  PlanBuilder plan;
  const RankGroup group(dispatch.topology, participants_of(dispatch.topology, plan), {}, &plan_time);
  Exchange exchange;
  exchange.fidelity = fidelity;
  add_all_to_all_v(plan, group, exchange, dispatch.bytes, RankTasks(group.size()));
  return execute(std::move(plan).build(), dispatch.topology);
}

/// When the last byte is there: the busiest way in or out of a card at 1 GB/s, after its latency.
double textbook_end(const Dispatch& dispatch) {
  double most = 0.0;
  for (std::size_t card = 0; card < dispatch.bytes.size(); ++card) {
    double out = 0.0;
    double in = 0.0;
    for (std::size_t other = 0; other < dispatch.bytes.size(); ++other) {
      if (other == card) continue;
      out += dispatch.bytes[card][other].count();
      in += dispatch.bytes[other][card].count();
    }
    most = std::max({most, out, in});
  }
  return most > 0 ? most / 1e9 + 2e-6 : 0.0;
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("every byte that leaves a card arrives at one and volumes are those of the textbook for every algorithm") {
    for (const AlgorithmEntry& entry : exchange_algorithms()) {
      for (const Collective what : entry.collectives) {
        for (int ranks = 2; ranks <= 32; ++ranks) {
          if (!makes_sense(entry, what, ranks)) continue;
          for (const Fidelity fidelity : {Fidelity::coupled, Fidelity::stepwise}) {
            const std::string which = case_name(entry, what, ranks);
            CAPTURE(which);
            const Machine machine = machine_for(entry.algorithm, ranks, 1_us);
            const Run run = run_exchange(entry, what, machine.topology, 64_MB, fidelity, machine.transport);
            const CardBytes bytes = card_bytes(machine.topology, run.timeline);
            CHECK(bytes.all_sent() == doctest::Approx(64e6 * volume(entry, what, ranks)).epsilon(1e-9));
            CHECK(bytes.all_received() == doctest::Approx(64e6 * volume_received(entry, what, ranks)).epsilon(1e-9));
          }
        }
      }
    }
  }

  TEST_CASE("an all-to-all of unequal parts takes from each card what it sends and gives each what is for it") {
    std::mt19937 random(11);
    for (int i = 0; i < 200; ++i) {
      CAPTURE(i);
      const Dispatch dispatch = random_dispatch(random);
      for (const Fidelity fidelity : {Fidelity::coupled, Fidelity::stepwise}) {
        const CardBytes bytes = card_bytes(dispatch.topology, run_dispatch(dispatch, fidelity));
        const std::span<const DeviceId> cards = dispatch.topology.gpus();
        for (std::size_t card = 0; card < cards.size(); ++card) {
          double out = 0.0;
          double in = 0.0;
          for (std::size_t other = 0; other < cards.size(); ++other) {
            if (other == card) continue;
            out += dispatch.bytes[card][other].count();
            in += dispatch.bytes[other][card].count();
          }
          CHECK(bytes.sent[cards[card].index()] == doctest::Approx(out).epsilon(1e-9));
          CHECK(bytes.received[cards[card].index()] == doctest::Approx(in).epsilon(1e-9));
        }
      }
    }
  }

  TEST_CASE("an all-to-all of unequal parts takes as long as the busiest way of a card") {
    std::mt19937 random(12);
    for (int i = 0; i < 200; ++i) {
      CAPTURE(i);
      const Dispatch dispatch = random_dispatch(random);
      const double coupled = run_dispatch(dispatch, Fidelity::coupled).end.since_start().count();
      CHECK(coupled == doctest::Approx(textbook_end(dispatch)).epsilon(1e-9));
      // Step by step, flows share links evenly, so that a busy card does not get all it could use.
      CHECK(run_dispatch(dispatch, Fidelity::stepwise).end.since_start().count() >= coupled * (1.0 - 1e-9));
    }
  }

  TEST_CASE("an all-to-all of equal parts is that of the table") {
    for (const int ranks : {2, 3, 8, 16}) {
      CAPTURE(ranks);
      const Dispatch dispatch{
          star_of(ranks, 1_GBps, 1_us),
          std::vector<std::vector<Bytes>>(static_cast<std::size_t>(ranks),
                                          std::vector<Bytes>(static_cast<std::size_t>(ranks), 1_MB))};
      const AlgorithmEntry& direct =
          *std::ranges::find(exchange_algorithms(), ExchangeAlgorithm::direct, &AlgorithmEntry::algorithm);
      const Run whole = run_exchange(direct, Collective::all_to_all, dispatch.topology,
                                     1_MB * static_cast<double>(ranks), Fidelity::coupled);
      CHECK(run_dispatch(dispatch, Fidelity::coupled).end == whole.timeline.end);
    }
  }
}
