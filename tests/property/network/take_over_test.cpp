/// \file
/// Flows that start as others end on the same way: steps of a lock-step exchange, messages of a connection.

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "property/network/random_network.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// A sender whose messages follow each other, most over the same channels at the same cap.
struct Stream {
  FlowDemand demand;
  std::size_t left = 0;  ///< messages
};

std::vector<Stream> random_streams(Dice& dice, const Network& network) {
  std::vector<Stream> streams(1 + dice.below(30));
  for (Stream& stream : streams) stream = {random_demand(dice, network), 1 + dice.below(20)};
  return streams;
}

/// Runs all streams; what ends in an instant is followed at once. \returns the instant of each end, in order.
template <class AtEachInstant>
std::vector<Time> run_streams(Dice& dice, const Network& network, std::vector<Stream> streams, bool equal,
                              FlowModel& model, AtEachInstant&& at_each_instant) {
  std::vector<FlowId> active(streams.size());
  const auto send = [&](Time now, std::uint32_t number) {
    Stream& stream = streams[number];
    --stream.left;
    if (dice.below(4) == 0) stream.demand = random_demand(dice, network);
    active[number] = model.start(now, stream.demand, random_amount(dice, equal), number);
  };
  for (std::uint32_t i = 0; i < streams.size(); ++i) send(Time(), i);
  model.settle(Time());
  std::vector<Time> ends;
  std::vector<std::uint32_t> tags;
  while (model.next_completion() != kNever) {
    at_each_instant(streams, active);
    const Time now = model.next_completion();
    model.finish(now, tags);
    for (const std::uint32_t number : tags) {
      ends.push_back(now);
      active[number] = FlowId();
      if (streams[number].left > 0) send(now, number);
    }
    model.settle(now);
  }
  return ends;
}

}  // namespace

TEST_SUITE("network") {
  TEST_CASE("rates are those of a full solve where flows follow each other on the same way") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 5000);
      const Network network = random_network(dice);
      const bool equal = dice.below(2) == 0;
      const std::vector<Stream> streams = random_streams(dice, network);
      FlowModel model(network.capacity);
      run_streams(dice, network, streams, equal, model, [&](const auto& now, const std::vector<FlowId>& active) {
        std::vector<FlowDemand> demands;
        std::vector<BytesPerSecond> rates;
        for (std::size_t i = 0; i < active.size(); ++i) {
          if (!active[i].valid()) continue;
          demands.push_back(now[i].demand);
          rates.push_back(model.rate(active[i]));
        }
        CHECK(near(rates, max_min_rates(network.capacity, demands)));
      });
      CHECK(model.active() == 0);
    }
  }

  TEST_CASE("bytes and busy time of a channel are counted through flows that follow each other") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 6000);
      const std::size_t messages = 1 + dice.below(50);
      FlowModel model(std::vector<BytesPerSecond>(2, 10_GBps));
      double sent = 0.0;
      Time now;
      std::vector<std::uint32_t> tags;
      for (std::size_t i = 0; i < messages; ++i) {
        const Bytes amount = random_amount(dice, false);
        sent += amount.count();
        model.start(now, std::vector<ChannelLoad>{{ChannelId(0)}, {ChannelId(1), 0.5}}, amount, 0);
        model.settle(now);
        CHECK(model.carried(ChannelId(0)).count() == doctest::Approx(sent - amount.count()).epsilon(1e-9));
        now = model.next_completion();
        model.finish(now, tags);
        CHECK(tags.size() == 1);
        CHECK(model.carried(ChannelId(0)).count() == doctest::Approx(sent).epsilon(1e-9));
      }
      model.settle(now);
      CHECK(model.carried(ChannelId(1)).count() == doctest::Approx(0.5 * sent).epsilon(1e-9));
      CHECK(model.busy_time(ChannelId(0)) == now.since_start());
      model.settle(Time(now.picoseconds() + 1'000'000));
      CHECK(model.busy_time(ChannelId(0)).count() == doctest::Approx(now.since_start().count()).epsilon(1e-12));
    }
  }
}
