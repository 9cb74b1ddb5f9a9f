/// \file
/// Laws of link sharing, each on 200 seeded random cases.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "network/flow_model.hpp"
#include "network/max_min.hpp"

using namespace gpuscale;

namespace {

using Loads = std::vector<ChannelLoad>;

constexpr std::uint64_t kCases = 200;
constexpr double kNear = 1e-9;

/// Random numbers that are the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  double fraction() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  template <class Element>
  void shuffle(std::vector<Element>& elements) {
    for (std::size_t i = elements.size(); i > 1; --i) std::swap(elements[i - 1], elements[below(i)]);
  }

 private:
  std::mt19937_64 random_;
};

struct Network {
  std::vector<BytesPerSecond> capacity;
  bool weighted = false;
  bool capped = false;
  std::size_t longest = 1;  // loads of a flow
};

Network random_network(Dice& dice) {
  Network network;
  const std::size_t channels = 1 + dice.below(40);
  const bool equal = dice.below(3) == 0;  // many ties
  for (std::size_t c = 0; c < channels; ++c) {
    network.capacity.emplace_back(equal ? 1e10 : 1e9 * (1.0 + 99.0 * dice.fraction()));
  }
  network.weighted = dice.below(2) == 0;
  network.capped = dice.below(2) == 0;
  network.longest = 1 + dice.below(6);
  return network;
}

FlowDemand random_demand(Dice& dice, const Network& network) {
  FlowDemand demand;
  const std::size_t count = 1 + dice.below(network.longest);
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = network.weighted && dice.below(2) == 0 ? 0.25 + 3.0 * dice.fraction() : 1.0;
    demand.loads.push_back({ChannelId(dice.below(network.capacity.size())), weight});
  }
  if (network.capped && dice.below(3) == 0) demand.cap = BytesPerSecond(1e8 * (1.0 + 99.0 * dice.fraction()));
  return demand;
}

std::vector<FlowDemand> random_demands(Dice& dice, const Network& network) {
  std::vector<FlowDemand> demands;
  const std::size_t count = 1 + dice.below(150);
  for (std::size_t i = 0; i < count; ++i) demands.push_back(random_demand(dice, network));
  return demands;
}

std::vector<double> channel_loads(const Network& network, const std::vector<FlowDemand>& demands,
                                  const std::vector<BytesPerSecond>& rates) {
  std::vector<double> loads(network.capacity.size(), 0.0);
  for (std::size_t flow = 0; flow < demands.size(); ++flow) {
    for (const ChannelLoad& load : demands[flow].loads) {
      loads[load.channel.index()] += load.weight * rates[flow].count();
    }
  }
  return loads;
}

/// No channel over capacity; every flow at its cap or on a full channel where no flow is faster.
bool is_fair(const Network& network, const std::vector<FlowDemand>& demands, const std::vector<BytesPerSecond>& rates) {
  const std::vector<double> loads = channel_loads(network, demands, rates);
  std::vector<double> fastest(loads.size(), 0.0);
  for (std::size_t flow = 0; flow < demands.size(); ++flow) {
    for (const ChannelLoad& load : demands[flow].loads) {
      double& rate = fastest[load.channel.index()];
      rate = std::max(rate, rates[flow].count());
    }
  }
  for (std::size_t c = 0; c < loads.size(); ++c) {
    if (loads[c] > network.capacity[c].count() * (1.0 + kNear)) return false;
  }
  for (std::size_t flow = 0; flow < demands.size(); ++flow) {
    const double rate = rates[flow].count();
    const auto holds = [&](const ChannelLoad& load) {
      const std::size_t c = load.channel.index();
      return loads[c] >= network.capacity[c].count() * (1.0 - kNear) && rate >= fastest[c] * (1.0 - kNear);
    };
    const bool at_cap = std::abs(rate - demands[flow].cap.count()) <= kNear * rate;
    if (rate <= 0.0 || (!at_cap && std::ranges::none_of(demands[flow].loads, holds))) return false;
  }
  return true;
}

bool near(const std::vector<BytesPerSecond>& a, const std::vector<BytesPerSecond>& b) {
  return std::ranges::equal(
      a, b, [](BytesPerSecond x, BytesPerSecond y) { return std::abs((x - y).count()) <= kNear * x.count(); });
}

/// A model with its active flows written down beside it.
struct Watched {
  explicit Watched(const Network& watched) : network(watched), model(watched.capacity) {}

  const Network& network;
  FlowModel model;
  std::map<std::uint32_t, std::pair<FlowId, FlowDemand>> active;  // by tag
  std::vector<double> expected_bytes = std::vector<double>(network.capacity.size(), 0.0);
  std::uint32_t next_tag = 0;

  void start(Time now, const FlowDemand& demand, Bytes amount) {
    active.emplace(next_tag, std::pair(model.start(now, demand, amount, next_tag), demand));
    ++next_tag;
    for (const ChannelLoad& load : demand.loads) {
      expected_bytes[load.channel.index()] += load.weight * amount.count();
    }
  }
  void finish(Time now) {
    std::vector<std::uint32_t> tags;
    model.finish(now, tags);
    for (const std::uint32_t tag : tags) active.erase(tag);
  }
  [[nodiscard]] bool equals_full_solve() const {
    std::vector<FlowDemand> demands;
    std::vector<BytesPerSecond> rates;
    for (const auto& [tag, flow] : active) {
      rates.push_back(model.rate(flow.first));
      demands.push_back(flow.second);
    }
    return near(rates, max_min_rates(network.capacity, demands)) && is_fair(network, demands, rates);
  }
  [[nodiscard]] bool carried_equals_sent() const {
    for (std::size_t c = 0; c < expected_bytes.size(); ++c) {
      const double carried = model.carried(ChannelId(c)).count();
      if (std::abs(carried - expected_bytes[c]) > kNear * expected_bytes[c]) return false;
    }
    return true;
  }
};

Bytes random_amount(Dice& dice, bool equal) { return equal ? 1_MB : Bytes(1e3 + 1e7 * dice.fraction()); }

/// Starts flows now and then until enough have started, and lets all finish.
/// \returns whether the rates were those of a full solve at every instant.
bool live_through(Dice& dice, Watched& watched) {
  const bool equal = dice.below(2) == 0;
  const std::size_t in_one_instant = 1 + dice.below(8);
  Time now;
  bool equals = true;
  std::size_t to_start = 20 + dice.below(120);
  while (to_start > 0 || watched.model.next_completion() != kNever) {
    const bool arrival = to_start > 0 && (watched.model.active() < 40 || dice.below(2) == 0);
    const Time next = watched.model.next_completion();
    if (arrival) {
      const Time later(now.picoseconds() + static_cast<std::int64_t>(dice.below(100'000'000)));
      now = std::min(next, later);
    } else {
      now = next == kNever ? now : next;
    }
    watched.finish(now);
    for (std::size_t i = 0; arrival && i < in_one_instant && to_start > 0; ++i, --to_start) {
      watched.start(now, random_demand(dice, watched.network), random_amount(dice, equal));
    }
    watched.model.settle(now);
    equals = equals && watched.equals_full_solve();
  }
  return equals;
}

}  // namespace

TEST_SUITE("network") {
  TEST_CASE("no channel is over capacity and every flow is held by a full channel or its cap") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Network network = random_network(dice);
      const std::vector<FlowDemand> demands = random_demands(dice, network);
      CHECK(is_fair(network, demands, max_min_rates(network.capacity, demands)));
    }
  }

  TEST_CASE("the order of the demands does not matter") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Network network = random_network(dice);
      const std::vector<FlowDemand> demands = random_demands(dice, network);
      const std::vector<BytesPerSecond> rates = max_min_rates(network.capacity, demands);
      std::vector<std::size_t> order(demands.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      dice.shuffle(order);
      std::vector<FlowDemand> shuffled;
      std::vector<BytesPerSecond> expected;
      for (const std::size_t flow : order) {
        shuffled.push_back(demands[flow]);
        expected.push_back(rates[flow]);
      }
      CHECK(near(max_min_rates(network.capacity, shuffled), expected));
    }
  }

  TEST_CASE("rates solved step by step are those of a full solve") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Network network = random_network(dice);
      Watched watched(network);
      CHECK(live_through(dice, watched));
      CHECK(watched.active.empty());
      CHECK(watched.model.active() == 0);
    }
  }

  TEST_CASE("rounding does not add up over many instants on channels that are never idle") {
    Dice dice(1);
    Network network;
    constexpr std::size_t kHosts = 50;
    network.capacity = {BytesPerSecond(5e10), BytesPerSecond(5e10)};
    for (std::size_t i = 0; i < 2 * kHosts; ++i) network.capacity.emplace_back(1e9 * (1.0 + 9.0 * dice.fraction()));
    Watched watched(network);
    Time now;
    for (int instant = 0; instant < 20'000; ++instant) {
      while (watched.active.size() < 250) {
        const Loads loads{{ChannelId(dice.below(2)), 0.9},
                          {ChannelId(2 + dice.below(kHosts)), 1.1},
                          {ChannelId(2 + kHosts + dice.below(kHosts))}};
        watched.start(now, {loads}, random_amount(dice, false));
      }
      watched.model.settle(now);
      if (instant % 1000 == 999) CHECK(watched.equals_full_solve());
      now = watched.model.next_completion();
      watched.finish(now);
    }
  }

  TEST_CASE("the bytes that channels carried are the bytes that flows sent") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 1000);
      const Network network = random_network(dice);
      Watched watched(network);
      live_through(dice, watched);
      CHECK(watched.carried_equals_sent());
      for (std::size_t c = 0; c < network.capacity.size(); ++c) {
        CHECK(watched.model.busy_share(ChannelId(c)) <= 1.0 + kNear);
      }
    }
  }

  TEST_CASE("flows started in another order end at the same instants") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Network network = random_network(dice);
      const std::vector<FlowDemand> demands = random_demands(dice, network);
      std::vector<std::uint32_t> order(demands.size());
      std::iota(order.begin(), order.end(), 0U);
      std::vector<std::vector<Time>> ends(2, std::vector<Time>(demands.size()));
      for (std::vector<Time>& end : ends) {
        FlowModel model(network.capacity);
        for (const std::uint32_t flow : order) model.start(Time(), demands[flow], 1_MB, flow);
        model.settle(Time());
        std::vector<std::uint32_t> tags;
        while (model.next_completion() != kNever) {
          const Time now = model.next_completion();
          model.finish(now, tags);
          for (const std::uint32_t flow : tags) end[flow] = now;
          model.settle(now);
        }
        dice.shuffle(order);
      }
      const auto close = [](Time a, Time b) {
        const double off = std::abs(static_cast<double>(a.picoseconds() - b.picoseconds()));
        return off <= 2.0 + kNear * static_cast<double>(a.picoseconds());
      };
      CHECK(std::ranges::equal(ends[0], ends[1], close));
    }
  }

  TEST_CASE("a run twice is equal to the last picosecond") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      std::vector<std::vector<Time>> ends(2);
      for (std::vector<Time>& end : ends) {
        Dice dice(seed);
        const Network network = random_network(dice);
        FlowModel model(network.capacity);
        for (const FlowDemand& demand : random_demands(dice, network)) {
          model.start(Time(), demand, random_amount(dice, false), 0);
        }
        model.settle(Time());
        std::vector<std::uint32_t> tags;
        while (model.next_completion() != kNever) {
          end.push_back(model.next_completion());
          model.finish(end.back(), tags);
          model.settle(end.back());
        }
      }
      CHECK(ends[0] == ends[1]);
    }
  }
}
