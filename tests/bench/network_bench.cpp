/// \file
/// Flows per second of the flow model on the patterns of training traffic. Every flow is its own
/// here; a coupled flow stands for a whole ring and is a benchmark of its own.

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "network/flow_model.hpp"

namespace gpuscale {
namespace {

constexpr BytesPerSecond kHostRate{12.5e9};

double fraction(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

void report(benchmark::State& state, std::size_t flows, std::size_t instants) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(flows));
  state.counters["flows"] = static_cast<double>(flows);
  state.counters["instants"] = static_cast<double>(instants);
}

/// Runs until nothing is active. `on_finish(now, tag)` may start flows.
/// \returns the number of instants.
template <class OnFinish>
std::size_t drain(FlowModel& flows, OnFinish&& on_finish) {
  std::vector<std::uint32_t> tags;
  std::size_t instants = 0;
  for (; flows.next_completion() != kNever; ++instants) {
    const Time now = flows.next_completion();
    flows.finish(now, tags);
    for (const std::uint32_t tag : tags) on_finish(now, tag);
    flows.settle(now);
  }
  return instants;
}

/// Hosts on one switch: channel 2h is the host's way up, 2h + 1 its way down.
std::vector<BytesPerSecond> star(std::size_t hosts) { return std::vector<BytesPerSecond>(2 * hosts, kHostRate); }

std::vector<ChannelLoad> star_route(std::size_t from, std::size_t to) {
  return {{ChannelId(2 * from)}, {ChannelId(2 * to + 1)}};
}

/// Ring all-reduce with every step of every rank a flow. A rank starts its next step when its own
/// step has gone out and its neighbour's has come in.
void ring_of_every_step(benchmark::State& state) {
  const auto hosts = static_cast<std::uint32_t>(state.range(0));
  const std::uint32_t steps = 2 * (hosts - 1);
  const Bytes chunk = 100_MB / static_cast<double>(hosts);
  std::vector<std::vector<ChannelLoad>> routes;
  for (std::uint32_t rank = 0; rank < hosts; ++rank) routes.push_back(star_route(rank, (rank + 1) % hosts));
  std::size_t instants = 0;
  for (auto _ : state) {
    FlowModel flows(star(hosts));
    std::vector<std::uint32_t> sent(hosts, 0);
    std::vector<std::uint32_t> received(hosts, 0);
    std::vector<std::uint32_t> begun(hosts, 0);
    const auto start = [&](Time now, std::uint32_t rank) {
      ++begun[rank];
      flows.start(now, routes[rank], chunk, rank);
    };
    const auto start_if_ready = [&](Time now, std::uint32_t rank) {
      if (begun[rank] < steps && sent[rank] == begun[rank] && received[rank] >= begun[rank]) start(now, rank);
    };
    for (std::uint32_t rank = 0; rank < hosts; ++rank) start(Time(), rank);
    flows.settle(Time());
    instants = drain(flows, [&](Time now, std::uint32_t rank) {
      const std::uint32_t next = rank + 1 == hosts ? 0 : rank + 1;
      ++sent[rank];
      ++received[next];
      start_if_ready(now, rank);
      start_if_ready(now, next);
    });
  }
  report(state, std::size_t{hosts} * steps, instants);
}

/// The same exchange as one coupled flow: every link at one pace.
void ring_coupled(benchmark::State& state) {
  const auto hosts = static_cast<std::size_t>(state.range(0));
  std::vector<ChannelLoad> loads;
  for (std::size_t channel = 0; channel < 2 * hosts; ++channel) loads.push_back({ChannelId(channel)});
  for (auto _ : state) {
    FlowModel flows(star(hosts));
    flows.start(Time(), loads, 2.0 * 100_MB, 0);
    flows.settle(Time());
    drain(flows, [](Time, std::uint32_t) {});
  }
  report(state, 1, 1);
}

/// Every host to every other, all at once.
void all_to_all(benchmark::State& state) {
  const auto hosts = static_cast<std::size_t>(state.range(0));
  std::size_t instants = 0;
  for (auto _ : state) {
    FlowModel flows(star(hosts));
    for (std::size_t from = 0; from < hosts; ++from) {
      for (std::size_t shift = 1; shift < hosts; ++shift) {
        flows.start(Time(), star_route(from, (from + shift) % hosts), 1_MB, 0);
      }
    }
    flows.settle(Time());
    instants = drain(flows, [](Time, std::uint32_t) {});
  }
  report(state, hosts * (hosts - 1), instants);
}

/// A 16-ary fat tree: 1,024 hosts, 128 edge, 128 aggregation and 64 core switches, all links equal.
/// Routes of 2, 4 or 6 links; the way up is chosen at random for each flow.
class FatTree {
 public:
  static constexpr std::size_t kHosts = 1024;

  static std::vector<BytesPerSecond> capacity() { return std::vector<BytesPerSecond>(6 * kHosts, kHostRate); }

  static std::vector<ChannelLoad> route(std::size_t from, std::size_t to, std::mt19937_64& random) {
    const std::size_t aggregation = random() % kHalf;
    const std::size_t core = random() % kHalf;
    std::vector<ChannelLoad> loads{{up(0, from)}};
    if (edge(from) != edge(to)) {
      loads.push_back({up(1, edge(from) * kHalf + aggregation)});
      if (pod(from) != pod(to)) {
        loads.push_back({up(2, (pod(from) * kHalf + aggregation) * kHalf + core)});
        loads.push_back({down(2, (pod(to) * kHalf + aggregation) * kHalf + core)});
      }
      loads.push_back({down(1, edge(to) * kHalf + aggregation)});
    }
    loads.push_back({down(0, to)});
    return loads;
  }

 private:
  static constexpr std::size_t kHalf = 8;  // hosts of an edge switch, edge switches of a pod
  static std::size_t edge(std::size_t host) { return host / kHalf; }
  static std::size_t pod(std::size_t host) { return host / (kHalf * kHalf); }
  static ChannelId up(std::size_t tier, std::size_t link) { return ChannelId(2 * (tier * kHosts + link)); }
  static ChannelId down(std::size_t tier, std::size_t link) { return ChannelId(2 * (tier * kHosts + link) + 1); }
};

struct RandomFlow {
  std::vector<ChannelLoad> loads;
  Bytes amount;
};

std::vector<RandomFlow> random_flows(std::size_t count, bool equal) {
  std::mt19937_64 random(1);
  std::vector<RandomFlow> flows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i % FatTree::kHosts;
    std::size_t to = random() % (FatTree::kHosts - 1);
    if (to >= from) ++to;
    const Bytes amount = equal ? 1_MB : Bytes(1e6 * (0.5 + fraction(random)));
    flows.push_back({FatTree::route(from, to, random), amount});
  }
  return flows;
}

constexpr std::size_t kRounds = 97;
constexpr std::size_t kRandomFlows = kRounds * FatTree::kHosts;  // 99,328

/// All flows at once.
void random_at_once(benchmark::State& state) {
  const std::vector<RandomFlow> all = random_flows(kRandomFlows, state.range(0) == 1);
  std::size_t instants = 0;
  for (auto _ : state) {
    FlowModel flows(FatTree::capacity());
    for (const RandomFlow& flow : all) flows.start(Time(), flow.loads, flow.amount, 0);
    flows.settle(Time());
    instants = drain(flows, [](Time, std::uint32_t) {});
  }
  report(state, all.size(), instants);
}

/// Every host sends its 97 flows one after the other.
void random_in_turn(benchmark::State& state) {
  const std::vector<RandomFlow> all = random_flows(kRandomFlows, state.range(0) == 1);
  std::size_t instants = 0;
  for (auto _ : state) {
    FlowModel flows(FatTree::capacity());
    const auto start = [&](Time now, std::size_t flow) {
      if (flow < all.size()) flows.start(now, all[flow].loads, all[flow].amount, static_cast<std::uint32_t>(flow));
    };
    for (std::size_t flow = 0; flow < FatTree::kHosts; ++flow) start(Time(), flow);
    flows.settle(Time());
    instants = drain(flows, [&](Time now, std::uint32_t flow) { start(now, flow + FatTree::kHosts); });
  }
  report(state, all.size(), instants);
}

/// 97 rounds of one flow from every host; a round starts when the one before is complete.
void random_in_rounds(benchmark::State& state) {
  const std::vector<RandomFlow> all = random_flows(kRandomFlows, state.range(0) == 1);
  std::size_t instants = 0;
  for (auto _ : state) {
    FlowModel flows(FatTree::capacity());
    std::size_t next = 0;
    instants = 0;
    Time now;
    while (next < all.size()) {
      for (std::size_t host = 0; host < FatTree::kHosts; ++host, ++next) {
        flows.start(now, all[next].loads, all[next].amount, 0);
      }
      flows.settle(now);
      instants += drain(flows, [&](Time end, std::uint32_t) { now = end; });
    }
  }
  report(state, all.size(), instants);
}

/// 20,000 flows that arrive at random, at the given percentage of what the hosts can send.
void poisson_arrivals(benchmark::State& state) {
  constexpr std::size_t kFlows = 20'000;
  const std::vector<RandomFlow> all = random_flows(kFlows, false);
  const double offered = static_cast<double>(state.range(0)) / 100.0;
  const Seconds gap = 1_MB / (offered * static_cast<double>(FatTree::kHosts) * kHostRate);
  std::mt19937_64 random(2);
  std::vector<Time> arrivals;
  Time last;
  for (std::size_t i = 0; i < kFlows; ++i) {
    last = last.after(-std::log(1.0 - fraction(random)) * gap);
    arrivals.push_back(last);
  }
  std::size_t most = 0;
  for (auto _ : state) {
    FlowModel flows(FatTree::capacity());
    std::vector<std::uint32_t> tags;
    std::size_t next = 0;
    while (next < kFlows || flows.next_completion() != kNever) {
      const Time arrival = next < kFlows ? arrivals[next] : kNever;
      const Time now = std::min(arrival, flows.next_completion());
      flows.finish(now, tags);
      for (; next < kFlows && arrivals[next] == now; ++next) flows.start(now, all[next].loads, all[next].amount, 0);
      flows.settle(now);
      most = std::max(most, flows.active());
    }
  }
  report(state, kFlows, 2 * kFlows);
  state.counters["most active"] = static_cast<double>(most);
}

BENCHMARK(ring_of_every_step)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_coupled)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(all_to_all)->Arg(64)->Arg(256)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK(random_at_once)->ArgName("equal")->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(random_in_turn)->ArgName("equal")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(random_in_rounds)->ArgName("equal")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(poisson_arrivals)->ArgName("percent")->Arg(50)->Arg(60)->Arg(70)->Arg(80)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpuscale

BENCHMARK_MAIN();
