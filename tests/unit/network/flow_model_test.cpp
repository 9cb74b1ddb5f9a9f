#include "network/flow_model.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using namespace gpuscale;

namespace {

using Tags = std::vector<std::uint32_t>;
using Channels = std::vector<BytesPerSecond>;
using Loads = std::vector<ChannelLoad>;

constexpr Time kStart;

Loads on(std::size_t channel, double weight = 1.0) { return {{ChannelId(channel), weight}}; }

struct Completion {
  Time at;
  std::uint32_t tag;
  bool operator==(const Completion&) const = default;
};

/// Lets every flow finish, nothing started in between.
std::vector<Completion> drain(FlowModel& flows) {
  std::vector<Completion> completions;
  Tags tags;
  while (flows.next_completion() != kNever) {
    const Time now = flows.next_completion();
    flows.finish(now, tags);
    for (const std::uint32_t tag : tags) completions.push_back({now, tag});
    flows.settle(now);
  }
  return completions;
}

}  // namespace

TEST_SUITE("network") {
  TEST_CASE("a lone flow takes its bytes over the rate to the picosecond") {
    FlowModel flows(Channels{12.5_GBps});
    const FlowId flow = flows.start(kStart, on(0), 64_MB, 7);
    flows.settle(kStart);
    CHECK(flows.rate(flow) == 12.5_GBps);
    CHECK(flows.next_completion() == Time(5'120'000'000));
    CHECK(drain(flows) == std::vector<Completion>{{Time(5'120'000'000), 7}});
    CHECK(flows.active() == 0);
    CHECK(flows.next_completion() == kNever);
  }

  TEST_CASE("a completion is rounded up to a picosecond") {
    FlowModel flows(Channels{BytesPerSecond(3e12)});  // 3 bytes per picosecond
    flows.start(kStart, on(0), 10_B, 1);
    flows.settle(kStart);
    CHECK(flows.next_completion() == Time(4));
  }

  TEST_CASE("the rest of a channel is free for others when a flow ends") {
    // 10 GB/s for 1 GB and 3 GB: 5 GB/s each until 0.2 s, then 2 GB at 10 GB/s.
    FlowModel flows(Channels{10_GBps});
    flows.start(kStart, on(0), 1_GB, 1);
    const FlowId longer = flows.start(kStart, on(0), 3_GB, 2);
    flows.settle(kStart);
    CHECK(flows.rate(longer) == 5_GBps);
    CHECK(drain(flows) == std::vector<Completion>{{Time(200'000'000'000), 1}, {Time(400'000'000'000), 2}});
  }

  TEST_CASE("a flow that starts later slows the others from then on") {
    FlowModel flows(Channels{10_GBps});
    flows.start(kStart, on(0), 2_GB, 1);
    flows.settle(kStart);
    const Time later(100'000'000'000);
    flows.start(later, on(0), 2_GB, 2);
    flows.settle(later);
    // 1 GB is left of the first: 0.2 s at 5 GB/s; then 1 GB of the second alone: 0.1 s.
    CHECK(drain(flows) == std::vector<Completion>{{Time(300'000'000'000), 1}, {Time(400'000'000'000), 2}});
  }

  TEST_CASE("a flow that starts as another ends on the same way has its rate at once") {
    FlowModel flows(Channels{10_GBps});
    flows.start(kStart, on(0), 1_GB, 1);
    flows.start(kStart, on(0), 4_GB, 2);
    flows.settle(kStart);
    const Time now(200'000'000'000);
    Tags tags;
    flows.finish(now, tags);
    CHECK(tags == Tags{1});
    const FlowId next = flows.start(now, on(0), 1_GB, 3);
    CHECK(flows.rate(next) == 5_GBps);
    flows.settle(now);
    CHECK(flows.rate(next) == 5_GBps);
    // 1 GB more at 5 GB/s; then the last 2 GB alone.
    CHECK(drain(flows) == std::vector<Completion>{{Time(400'000'000'000), 3}, {Time(600'000'000'000), 2}});
  }

  TEST_CASE("a flow of another cap or weight does not take the rate of one that ends") {
    for (const bool capped : {true, false}) {
      CAPTURE(capped);
      FlowModel flows(Channels{10_GBps});
      flows.start(kStart, on(0), 1_GB, 1);
      flows.settle(kStart);
      const Time now = flows.next_completion();
      Tags tags;
      flows.finish(now, tags);
      const FlowId next = flows.start(now, on(0, capped ? 1.0 : 2.0), 1_GB, 2, capped ? 4_GBps : kUncapped);
      CHECK(flows.rate(next) == BytesPerSecond());
      flows.settle(now);
      CHECK(flows.rate(next) == (capped ? 4_GBps : 5_GBps));
    }
  }

  TEST_CASE("the place of a flow that ended is gone with its instant") {
    FlowModel flows(Channels{10_GBps});
    flows.start(kStart, on(0), 1_GB, 1);
    flows.settle(kStart);
    const Time end = flows.next_completion();
    Tags tags;
    flows.finish(end, tags);
    const Time later(end.picoseconds() + 50'000'000'000);
    const FlowId next = flows.start(later, on(0), 1_GB, 2);
    CHECK(flows.rate(next) == BytesPerSecond());
    flows.settle(later);
    CHECK(drain(flows) == std::vector<Completion>{{Time(later.picoseconds() + 100'000'000'000), 2}});
    CHECK(flows.busy_time(ChannelId(0)).count() == doctest::Approx(0.2).epsilon(1e-12));
  }

  TEST_CASE("an end ripples through flows that share no channel with it") {
    // a + b <= 2, b + c <= 7, c + d <= 20: rates 1 1 6 14. Without a: b = 2, c = 5, d = 15.
    FlowModel flows(Channels{2_GBps, 7_GBps, 20_GBps});
    flows.start(kStart, on(0), 1_GB, 0);
    const FlowId b = flows.start(kStart, Loads{{ChannelId(0)}, {ChannelId(1)}}, 100_GB, 1);
    const FlowId c = flows.start(kStart, Loads{{ChannelId(1)}, {ChannelId(2)}}, 100_GB, 2);
    const FlowId d = flows.start(kStart, on(2), 100_GB, 3);
    flows.settle(kStart);
    CHECK(flows.rate(b) == 1_GBps);
    CHECK(flows.rate(c) == 6_GBps);
    CHECK(flows.rate(d) == 14_GBps);
    Tags tags;
    const Time now = flows.next_completion();
    CHECK(now == Time(1'000'000'000'000));
    flows.finish(now, tags);
    CHECK(tags == Tags{0});
    flows.settle(now);
    CHECK(flows.rate(b) == 2_GBps);
    CHECK(flows.rate(c) == 5_GBps);
    CHECK(flows.rate(d) == 15_GBps);
  }

  TEST_CASE("caps and weights hold in the model as in the pure function") {
    // a <= 1 by its cap, 3 b + a <= 10  =>  b = 3
    FlowModel flows(Channels{10_GBps});
    const FlowId a = flows.start(kStart, on(0), 1_GB, 1, 1_GBps);
    const FlowId b = flows.start(kStart, on(0, 3.0), 1_GB, 2);
    flows.settle(kStart);
    CHECK(flows.rate(a) == 1_GBps);
    CHECK(flows.rate(b) == 3_GBps);
  }

  TEST_CASE("a flow of zero bytes is complete at once and disturbs nobody") {
    FlowModel flows(Channels{10_GBps});
    const FlowId other = flows.start(kStart, on(0), 1_GB, 1);
    flows.start(kStart, on(0), 0_B, 2);
    flows.settle(kStart);
    CHECK(flows.rate(other) == 10_GBps);
    CHECK(flows.next_completion() == kStart);
    Tags tags;
    flows.finish(kStart, tags);
    CHECK(tags == Tags{2});
    CHECK(flows.active() == 1);
  }

  TEST_CASE("a flow without loads goes at its cap") {
    FlowModel flows(Channels{});
    flows.start(kStart, Loads{}, 5_GB, 1, 10_GBps);
    flows.settle(kStart);
    CHECK(flows.next_completion() == Time(500'000'000'000));
    CHECK_THROWS_AS(flows.start(kStart, Loads{}, 5_GB, 1), std::logic_error);
  }

  TEST_CASE("flows complete in one instant come in the order in which they started") {
    FlowModel flows(Channels{10_GBps, 10_GBps, 20_GBps});
    flows.start(kStart, on(2), 2_GB, 30);
    flows.start(kStart, on(0), 1_GB, 20);
    flows.start(kStart, on(1), 1_GB, 10);
    flows.settle(kStart);
    Tags tags;
    flows.finish(flows.next_completion(), tags);
    CHECK(tags == Tags{30, 20, 10});
  }

  TEST_CASE("an instant that is not a completion finishes nothing") {
    FlowModel flows(Channels{10_GBps});
    flows.start(kStart, on(0), 1_GB, 1);
    flows.settle(kStart);
    Tags tags{99};
    flows.finish(Time(5), tags);
    CHECK(tags.empty());
    CHECK(flows.active() == 1);
  }

  TEST_CASE("a coupled flow takes as long as its steps one after the other") {
    // Four ranks on a ring of equal idle links, six steps of 1 GB: stepwise every link carries six
    // flows in turn; coupled one flow of 6 GB loads each link once.
    FlowModel stepwise(Channels(4, 10_GBps));
    Time now = kStart;
    Tags tags;
    for (int step = 0; step < 6; ++step) {
      for (std::size_t rank = 0; rank < 4; ++rank) stepwise.start(now, on(rank), 1_GB, 0);
      stepwise.settle(now);
      now = stepwise.next_completion();
      stepwise.finish(now, tags);
      CHECK(tags.size() == 4);
    }
    FlowModel coupled(Channels(4, 10_GBps));
    coupled.start(kStart, Loads{{ChannelId(0)}, {ChannelId(1)}, {ChannelId(2)}, {ChannelId(3)}}, 6_GB, 0);
    coupled.settle(kStart);
    CHECK(coupled.next_completion() == now);
  }

  TEST_CASE("carried bytes and busy time count what went over a channel") {
    FlowModel flows(Channels{10_GBps, 10_GBps});
    flows.start(kStart, Loads{{ChannelId(0)}, {ChannelId(1), 0.5}}, 1_GB, 1);
    flows.settle(kStart);
    const Time half(50'000'000'000);
    flows.settle(half);
    CHECK(flows.carried(ChannelId(0)).count() == doctest::Approx(5e8).epsilon(1e-12));
    CHECK(flows.carried(ChannelId(1)).count() == doctest::Approx(2.5e8).epsilon(1e-12));
    CHECK(flows.busy_share(ChannelId(1)) == doctest::Approx(0.5).epsilon(1e-12));
    drain(flows);
    const Time end(200'000'000'000);
    flows.settle(end);
    CHECK(flows.carried(ChannelId(0)) == 1_GB);
    CHECK(flows.carried(ChannelId(1)) == Bytes(5e8));
    CHECK(flows.busy_time(ChannelId(0)) == Time(100'000'000'000).since_start());
    CHECK(flows.busy_share(ChannelId(0)) == doctest::Approx(0.5).epsilon(1e-12));
  }

  TEST_CASE("a clock that goes back and a completion left out are refused") {
    FlowModel flows(Channels{10_GBps});
    flows.start(Time(10), on(0), 1_GB, 1);
    flows.settle(Time(10));
    CHECK_THROWS_AS(flows.start(Time(9), on(0), 1_GB, 2), std::logic_error);
    Tags tags;
    CHECK_THROWS_AS(flows.finish(Time(200'000'000'000), tags), std::logic_error);
  }

  TEST_CASE("a flow that is stopped leaves its bytes and its rate to others") {
    FlowModel flows(Channels{1_GBps});
    const FlowId first = flows.start(kStart, on(0), 10_MB, 1);
    flows.start(kStart, on(0), 10_MB, 2);
    flows.settle(kStart);
    const Time later = kStart.after(4_ms);
    CHECK(flows.stop(later, first).count() == doctest::Approx(8e6).epsilon(1e-12));
    flows.settle(later);
    CHECK(flows.active() == 1);
    CHECK(flows.next_completion() == later.after(8_ms));
    CHECK(flows.carried(ChannelId(0)).count() == doctest::Approx(4e6).epsilon(1e-12));
  }

  TEST_CASE("a channel would hold a flow that is as fast as any on it if it is full") {
    FlowModel flows(Channels{1_GBps, 1_GBps});
    const FlowId slow = flows.start(kStart, on(0), 10_MB, 1);
    flows.start(kStart, on(0), 10_MB, 2);
    flows.start(kStart, on(1), 10_MB, 3, 0.9_GBps);
    flows.settle(kStart);
    CHECK(flows.holds(ChannelId(0), flows.rate(slow)));
    CHECK_FALSE(flows.holds(ChannelId(0), 0.4_GBps));  // it would be given as much as the others
    CHECK_FALSE(flows.holds(ChannelId(1), 0.9_GBps));  // some is left
    CHECK(flows.changed().size() == 3);
    CHECK(flows.meets(slow, [](std::uint32_t tag) { return tag == 2; }));
    CHECK_FALSE(flows.meets(slow, [](std::uint32_t tag) { return tag == 3; }));
  }
}
