/// \file
/// Laws of link sharing, each on 200 seeded random cases.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

#include "property/network/random_network.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

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
