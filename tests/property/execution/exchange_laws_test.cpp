/// \file
/// Laws of transfers over whole machines, each on 200 seeded random cases: a random small topology, random
/// copies and exchanges on it, executed.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "collective/all_reduce.hpp"
#include "execution/execute.hpp"
#include "network/max_min.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;

namespace {

constexpr std::uint64_t kCases = 200;

/// Random numbers that are the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  BytesPerSecond rate() { return BytesPerSecond(1e9 * static_cast<double>(1 + below(50))); }

 private:
  std::mt19937_64 random_;
};

/// A box to be built in any order of its cards: where each card hangs, and every rate.
struct Draft {
  bool peer_to_peer = true;
  BytesPerSecond memory;
  BytesPerSecond between_sockets;
  std::vector<BytesPerSecond> uplinks;      ///< of the switches, which take turns at two sockets
  std::vector<std::size_t> switches;        ///< by card
  std::vector<BytesPerSecond> slots;        ///< by card
  std::vector<BytesPerSecond> next_nvlink;  ///< by card, to the next; 0: none
};

Draft random_draft(Dice& dice) {
  Draft draft;
  draft.peer_to_peer = dice.below(2) == 0;
  draft.memory = dice.rate() * 2.0;
  draft.between_sockets = dice.rate();
  const std::size_t switches = 1 + dice.below(4);
  for (std::size_t i = 0; i < switches; ++i) draft.uplinks.push_back(dice.rate());
  const std::size_t cards = 2 + dice.below(7);
  for (std::size_t i = 0; i < cards; ++i) {
    draft.switches.push_back(dice.below(switches));
    draft.slots.push_back(dice.rate());
    draft.next_nvlink.push_back(dice.below(3) == 0 ? dice.rate() : BytesPerSecond());
  }
  return draft;
}

/// `order[i]` is the card that is added as number i.
Topology build(const Draft& draft, const std::vector<std::size_t>& order) {
  TopologyBuilder builder;
  const auto wire = [](BytesPerSecond rate, std::string kind) { return test::link_type(rate, 1_us, std::move(kind)); };
  std::vector<DeviceId> cpus;
  for (const char* name : {"0", "1"}) {
    cpus.push_back(builder.add({.name = std::string("cpu") + name, .kind = DeviceKind::cpu}));
    const DeviceId memory = builder.add({.name = std::string("memory") + name, .kind = DeviceKind::memory});
    builder.connect(cpus.back(), memory, wire(draft.memory, "memory"), 1);
  }
  builder.connect(cpus[0], cpus[1], wire(draft.between_sockets, "socket"), 1);
  std::vector<DeviceId> switches;
  for (std::size_t i = 0; i < draft.uplinks.size(); ++i) {
    switches.push_back(builder.add({.name = "switch" + std::to_string(i), .kind = DeviceKind::pcie_switch}));
    builder.connect(switches[i], cpus[i % 2], wire(draft.uplinks[i], "pcie"), 1);
  }
  std::vector<DeviceId> cards(order.size());
  for (const std::size_t card : order) {
    Device device{.name = "gpu" + std::to_string(card)};
    device.peer_to_peer = draft.peer_to_peer;
    cards[card] = builder.add(device);
    builder.connect(cards[card], switches[draft.switches[card]], wire(draft.slots[card], "pcie"), 1);
  }
  for (std::size_t card = 0; card + 1 < cards.size(); ++card) {
    if (draft.next_nvlink[card].count() > 0) {
      builder.connect(cards[card], cards[card + 1], wire(draft.next_nvlink[card], "nvlink"), 1);
    }
  }
  return std::move(builder).build();
}

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

DeviceId card_named(const Topology& topology, std::size_t card) {
  const auto found = std::ranges::find(topology.devices(), "gpu" + std::to_string(card), &Device::name);
  return DeviceId(static_cast<std::size_t>(found - topology.devices().begin()));
}

struct CopyTask {
  std::size_t from = 0;
  std::size_t to = 0;
  Bytes amount;
  bool after_previous = false;
};

std::vector<CopyTask> random_copies(Dice& dice, std::size_t cards) {
  std::vector<CopyTask> copies;
  const std::size_t count = 1 + dice.below(30);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = dice.below(cards);
    const std::size_t to = (from + 1 + dice.below(cards - 1)) % cards;
    copies.push_back({from, to, Bytes(static_cast<double>(1 + dice.below(50'000'000))), i > 0 && dice.below(3) == 0});
  }
  return copies;
}

Plan plan_of(const Topology& topology, const std::vector<CopyTask>& copies) {
  PlanBuilder plan;
  plan.label("copy");
  std::vector<TaskId> tasks;
  for (const CopyTask& copy : copies) {
    const Route& route = topology.route(card_named(topology, copy.from), card_named(topology, copy.to));
    Transfer transfer{.amount = copy.amount, .latency = route.latency};
    for (const ChannelId channel : route.channels) transfer.loads.push_back({channel});
    std::vector<TaskId> before;
    if (copy.after_previous) before.push_back(tasks.back());
    tasks.push_back(plan.add(transfer, before));
  }
  return std::move(plan).build();
}

Seconds exchange_time(const Topology& topology, std::size_t cards, ExchangeAlgorithm algorithm) {
  PlanBuilder plan;
  plan.label("exchange");
  std::vector<Participant> ranks;
  for (std::size_t card = 0; card < cards; ++card) {
    ranks.push_back({.gpu = card_named(topology, card),
                     .compute = plan.add_lane(std::to_string(card)),
                     .memory_bandwidth = BytesPerSecond(500e9),
                     .stream_bandwidth = BytesPerSecond(500e9)});
  }
  const RankGroup group(topology, ranks, Transport{}, &plan_time);
  const Exchange exchange{.values = 1e7, .size = 40_MB};
  add_collective(plan, group, Collective::all_reduce, algorithm, exchange, RankTasks(cards));
  return execute(std::move(plan).build(), topology).end.since_start();
}

/// Two times that differ by rounding to picoseconds only.
bool near(Seconds a, Seconds b) { return std::abs((a - b).count()) <= 1e-9 * a.count() + 100e-12; }

}  // namespace

TEST_SUITE("execution") {
  TEST_CASE("executed copies never load a channel beyond what its rate carries in the time") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Draft draft = random_draft(dice);
      const Topology topology = build(draft, in_order(draft.slots.size()));
      const Timeline timeline = execute(plan_of(topology, random_copies(dice, draft.slots.size())), topology);
      for (std::size_t i = 0; i < timeline.channels.size(); ++i) {
        const ChannelUse& use = timeline.channels[i];
        const double most = (topology.channels()[i].rate * use.busy).count();
        CHECK(use.carried.count() <= most * (1.0 + 1e-9) + 1.0);
        CHECK(use.busy.count() <= timeline.end.since_start().count() * (1.0 + 1e-12));
      }
    }
  }

  TEST_CASE("what executed copies send is what arrives over every channel of their ways") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 1000);
      const Draft draft = random_draft(dice);
      const Topology topology = build(draft, in_order(draft.slots.size()));
      const std::vector<CopyTask> copies = random_copies(dice, draft.slots.size());
      std::vector<double> expected(topology.channels().size(), 0.0);
      for (const CopyTask& copy : copies) {
        const Route& route = topology.route(card_named(topology, copy.from), card_named(topology, copy.to));
        for (const ChannelId channel : route.channels) expected[channel.index()] += copy.amount.count();
      }
      const Timeline timeline = execute(plan_of(topology, copies), topology);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(std::abs(timeline.channels[i].carried.count() - expected[i]) <= 1e-9 * expected[i]);
      }
    }
  }

  TEST_CASE("copies that start together are each held by a full channel") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 2000);
      const Draft draft = random_draft(dice);
      const Topology topology = build(draft, in_order(draft.slots.size()));
      std::vector<BytesPerSecond> capacity;
      for (const Channel& channel : topology.channels()) capacity.push_back(channel.rate);
      std::vector<FlowDemand> demands;
      for (const CopyTask& copy : random_copies(dice, draft.slots.size())) {
        FlowDemand& demand = demands.emplace_back();
        const Route& route = topology.route(card_named(topology, copy.from), card_named(topology, copy.to));
        for (const ChannelId channel : route.channels) demand.loads.push_back({channel});
      }
      const std::vector<BytesPerSecond> rates = max_min_rates(capacity, demands);
      std::vector<double> loads(capacity.size(), 0.0);
      for (std::size_t i = 0; i < demands.size(); ++i) {
        for (const ChannelLoad& load : demands[i].loads) loads[load.channel.index()] += rates[i].count();
      }
      for (std::size_t i = 0; i < loads.size(); ++i) CHECK(loads[i] <= capacity[i].count() * (1.0 + 1e-9));
      for (const FlowDemand& demand : demands) {
        CHECK(std::ranges::any_of(demand.loads, [&](const ChannelLoad& load) {
          const std::size_t channel = load.channel.index();
          return loads[channel] >= capacity[channel].count() * (1.0 - 1e-9);
        }));
      }
    }
  }

  TEST_CASE("more bandwidth never slows a single exchange") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 3000);
      const Draft draft = random_draft(dice);
      const std::size_t cards = draft.slots.size();
      Draft faster = draft;
      const std::size_t which = dice.below(4);
      if (which == 0) faster.memory = faster.memory * 1.5;
      if (which == 1) faster.between_sockets = faster.between_sockets * 1.5;
      if (which == 2) faster.uplinks[dice.below(draft.uplinks.size())] += 10_GBps;
      if (which == 3) faster.slots[dice.below(cards)] += 10_GBps;
      for (const ExchangeAlgorithm algorithm : {ExchangeAlgorithm::ring, ExchangeAlgorithm::direct}) {
        const Seconds before = exchange_time(build(draft, in_order(cards)), cards, algorithm);
        const Seconds after = exchange_time(build(faster, in_order(cards)), cards, algorithm);
        CHECK(after.count() <= before.count() + 100e-12);
      }
    }
  }

  TEST_CASE("renumbering the cards changes no time") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 4000);
      const Draft draft = random_draft(dice);
      const std::size_t cards = draft.slots.size();
      std::vector<std::size_t> order = in_order(cards);
      for (std::size_t i = cards; i > 1; --i) std::swap(order[i - 1], order[dice.below(i)]);
      const Topology topology = build(draft, in_order(cards));
      const Topology renumbered = build(draft, order);
      const std::vector<CopyTask> copies = random_copies(dice, cards);
      const Timeline one = execute(plan_of(topology, copies), topology);
      const Timeline other = execute(plan_of(renumbered, copies), renumbered);
      CHECK(near(one.end.since_start(), other.end.since_start()));
      for (const ExchangeAlgorithm algorithm : {ExchangeAlgorithm::ring, ExchangeAlgorithm::direct}) {
        CHECK(near(exchange_time(topology, cards, algorithm), exchange_time(renumbered, cards, algorithm)));
      }
    }
  }
}
