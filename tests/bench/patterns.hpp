#pragma once

/// \file
/// Networks and patterns of flows for benchmarks, and our runs of them. Every flow is its own here: a
/// ring is 2(N-1) steps of N flows.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "network/flow_model.hpp"

namespace gpuscale::bench {

inline constexpr BytesPerSecond kHostRate{12.5e9};

/// Hosts and one-way channels between them; a pair of hosts has one way.
struct Network {
  std::size_t hosts = 0;
  std::vector<BytesPerSecond> capacity;
  std::function<std::vector<std::uint32_t>(std::uint32_t from, std::uint32_t to)> route;
};

/// Hosts on one switch: channel 2h is the host's way up, 2h + 1 its way down.
inline Network star(std::size_t hosts) {
  return {hosts, std::vector<BytesPerSecond>(2 * hosts, kHostRate), [](std::uint32_t from, std::uint32_t to) {
            return std::vector<std::uint32_t>{2 * from, 2 * to + 1};
          }};
}

/// Eight hosts below each leaf switch, whose link to the one spine is as fast as two hosts.
inline Network two_level_tree(std::size_t hosts) {
  constexpr std::uint32_t kBelowLeaf = 8;
  Network network{hosts, std::vector<BytesPerSecond>(2 * hosts, kHostRate), {}};
  network.capacity.resize(2 * hosts + 2 * (hosts / kBelowLeaf), 2.0 * kHostRate);
  network.route = [first = static_cast<std::uint32_t>(2 * hosts)](std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> channels{2 * from};
    if (from / kBelowLeaf != to / kBelowLeaf) {
      channels.push_back(first + 2 * (from / kBelowLeaf));
      channels.push_back(first + 2 * (to / kBelowLeaf) + 1);
    }
    channels.push_back(2 * to + 1);
    return channels;
  };
  return network;
}

/// A 16-ary fat tree: 1,024 hosts, 128 edge, 128 aggregation and 64 core switches, all links equal.
/// Routes of 2, 4 or 6 links; the way up is drawn at random for each pair of hosts.
inline Network fat_tree() {
  constexpr std::uint32_t kHosts = 1024;
  constexpr std::uint32_t kHalf = 8;  // hosts of an edge switch, edge switches of a pod
  const auto up = [](std::uint32_t tier, std::uint32_t link) { return 2 * (tier * kHosts + link); };
  return {kHosts, std::vector<BytesPerSecond>(std::size_t{6} * kHosts, kHostRate),
          [up](std::uint32_t from, std::uint32_t to) {
            std::mt19937_64 random(std::uint64_t{from} * kHosts + to);
            const auto aggregation = static_cast<std::uint32_t>(random() % kHalf);
            const auto core = static_cast<std::uint32_t>(random() % kHalf);
            const auto pod = [](std::uint32_t host) { return host / (kHalf * kHalf); };
            std::vector<std::uint32_t> channels{up(0, from)};
            if (from / kHalf != to / kHalf) {
              channels.push_back(up(1, from / kHalf * kHalf + aggregation));
              if (pod(from) != pod(to)) {
                channels.push_back(up(2, (pod(from) * kHalf + aggregation) * kHalf + core));
                channels.push_back(up(2, (pod(to) * kHalf + aggregation) * kHalf + core) + 1);
              }
              channels.push_back(up(1, to / kHalf * kHalf + aggregation) + 1);
            }
            channels.push_back(up(0, to) + 1);
            return channels;
          }};
}

/// A flow that starts at an instant.
struct TimedFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Bytes amount;
  Time start;
};

/// A ring all-reduce with every step of every rank a flow. A rank starts its next step when its own step
/// has gone out and its neighbour's has come in.
struct RingPattern {
  std::vector<std::uint32_t> hosts;  ///< in the order of the ring
  Bytes chunk;

  [[nodiscard]] std::uint32_t steps() const { return 2 * (static_cast<std::uint32_t>(hosts.size()) - 1); }
  [[nodiscard]] std::size_t flows() const { return hosts.size() * steps(); }
};

/// `stride` 1 is the order of the hosts; otherwise neighbours are so far apart.
inline RingPattern ring_pattern(std::size_t ranks, std::size_t stride, Bytes size) {
  RingPattern ring{{}, size / static_cast<double>(ranks)};
  for (std::size_t first = 0; first < stride; ++first) {
    for (std::size_t host = first; host < ranks; host += stride) ring.hosts.push_back(static_cast<std::uint32_t>(host));
  }
  return ring;
}

inline double fraction(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Every host to every other, all at once.
inline std::vector<TimedFlow> all_to_all_flows(std::size_t hosts) {
  std::vector<TimedFlow> flows;
  for (std::size_t from = 0; from < hosts; ++from) {
    for (std::size_t shift = 1; shift < hosts; ++shift) {
      const auto to = static_cast<std::uint32_t>((from + shift) % hosts);
      flows.push_back({static_cast<std::uint32_t>(from), to, 1_MB, Time()});
    }
  }
  return flows;
}

/// Each host in turn sends to a random other, at once.
inline std::vector<TimedFlow> random_flows(std::size_t count, std::size_t hosts, bool equal) {
  std::mt19937_64 random(1);
  std::vector<TimedFlow> flows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i % hosts;
    std::size_t to = random() % (hosts - 1);
    if (to >= from) ++to;
    const Bytes amount = equal ? 1_MB : Bytes(std::round(1e6 * (0.5 + fraction(random))));
    flows.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), amount, Time()});
  }
  return flows;
}

/// Random flows of about 1 MB that arrive at random, at a share of what the hosts can send.
inline std::vector<TimedFlow> poisson_flows(std::size_t count, std::size_t hosts, double offered) {
  std::vector<TimedFlow> flows = random_flows(count, hosts, false);
  const Seconds gap = 1_MB / (offered * static_cast<double>(hosts) * kHostRate);
  std::mt19937_64 random(2);
  Time last;
  for (TimedFlow& flow : flows) {
    last = last.after(-std::log(1.0 - fraction(random)) * gap);
    flow.start = last;
  }
  return flows;
}

/// What happened: the instants at which something ended, the end of each flow if asked for, the most flows at once.
struct PatternRun {
  std::size_t instants = 0;
  std::size_t most_active = 0;
  std::vector<double> ends;  ///< seconds
};

inline std::vector<ChannelLoad> loads_of(const Network& network, std::uint32_t from, std::uint32_t to) {
  std::vector<ChannelLoad> loads;
  for (const std::uint32_t channel : network.route(from, to)) loads.push_back({ChannelId(channel)});
  return loads;
}

/// Runs until nothing is active. `on_finish(now, tag)` may start flows. \returns the number of instants.
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

/// \param note_ends ends by rank and step: rank * steps + step
inline PatternRun run_ring(const Network& network, const RingPattern& ring, bool note_ends) {
  const auto ranks = static_cast<std::uint32_t>(ring.hosts.size());
  const std::uint32_t steps = ring.steps();
  PatternRun run;
  if (note_ends) run.ends.resize(ring.flows());
  std::vector<std::vector<ChannelLoad>> routes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    routes.push_back(loads_of(network, ring.hosts[rank], ring.hosts[(rank + 1) % ranks]));
  }
  FlowModel flows(network.capacity);
  std::vector<std::uint32_t> sent(ranks, 0);
  std::vector<std::uint32_t> received(ranks, 0);
  std::vector<std::uint32_t> begun(ranks, 0);
  const auto start = [&](Time now, std::uint32_t rank) {
    ++begun[rank];
    flows.start(now, routes[rank], ring.chunk, rank);
  };
  const auto start_if_ready = [&](Time now, std::uint32_t rank) {
    if (begun[rank] < steps && sent[rank] == begun[rank] && received[rank] >= begun[rank]) start(now, rank);
  };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) start(Time(), rank);
  flows.settle(Time());
  run.instants = drain(flows, [&](Time now, std::uint32_t rank) {
    const std::uint32_t next = rank + 1 == ranks ? 0 : rank + 1;
    if (note_ends) run.ends[std::size_t{rank} * steps + sent[rank]] = now.since_start().count();
    ++sent[rank];
    ++received[next];
    start_if_ready(now, rank);
    start_if_ready(now, next);
  });
  return run;
}

/// Routes of flows, worked out before the clock of a benchmark runs.
inline std::vector<std::vector<ChannelLoad>> routes_of(const Network& network, const std::vector<TimedFlow>& flows) {
  std::vector<std::vector<ChannelLoad>> routes;
  for (const TimedFlow& flow : flows) routes.push_back(loads_of(network, flow.from, flow.to));
  return routes;
}

/// Flows in the order of their starts.
inline PatternRun run_flows(const Network& network, const std::vector<TimedFlow>& flows,
                            const std::vector<std::vector<ChannelLoad>>& routes, bool note_ends) {
  PatternRun run;
  if (note_ends) run.ends.resize(flows.size());
  FlowModel model(network.capacity);
  std::vector<std::uint32_t> tags;
  std::size_t next = 0;
  while (next < flows.size() || model.next_completion() != kNever) {
    const Time arrival = next < flows.size() ? flows[next].start : kNever;
    const Time now = std::min(arrival, model.next_completion());
    model.finish(now, tags);
    if (note_ends) {
      for (const std::uint32_t tag : tags) run.ends[tag] = now.since_start().count();
    }
    for (; next < flows.size() && flows[next].start == now; ++next) {
      model.start(now, routes[next], flows[next].amount, static_cast<std::uint32_t>(next));
    }
    model.settle(now);
    run.most_active = std::max(run.most_active, model.active());
    ++run.instants;
  }
  return run;
}

/// Flows that wait for others: all of one round for the whole round before, or each host's for its own before.
enum class Turns { rounds, per_host };

/// As many flows in a round as there are hosts, one of each. \param note_ends ends by flow
inline PatternRun run_in_turns(const Network& network, const std::vector<TimedFlow>& flows,
                               const std::vector<std::vector<ChannelLoad>>& routes, Turns turns, bool note_ends) {
  PatternRun run;
  if (note_ends) run.ends.resize(flows.size());
  FlowModel model(network.capacity);
  const auto start = [&](Time now, std::size_t flow) {
    if (flow < flows.size()) model.start(now, routes[flow], flows[flow].amount, static_cast<std::uint32_t>(flow));
  };
  Time last;
  const auto finished = [&](Time now, std::uint32_t flow) {
    if (note_ends) run.ends[flow] = now.since_start().count();
    if (turns == Turns::per_host) start(now, flow + network.hosts);
    last = now;
  };
  const std::size_t in_turn = turns == Turns::rounds ? flows.size() : network.hosts;
  for (std::size_t first = 0; first < in_turn; first += network.hosts) {
    for (std::size_t host = 0; host < network.hosts; ++host) start(last, first + host);
    model.settle(last);
    run.instants += drain(model, finished);
  }
  return run;
}

/// A whole ring as one coupled flow: every link at one pace.
inline PatternRun run_coupled_ring(std::size_t hosts, Bytes size) {
  std::vector<ChannelLoad> loads;
  for (std::size_t channel = 0; channel < 2 * hosts; ++channel) loads.push_back({ChannelId(channel)});
  FlowModel flows(star(hosts).capacity);
  const double n = static_cast<double>(hosts);
  flows.start(Time(), loads, size * (2.0 * (n - 1.0) / n), 0);
  flows.settle(Time());
  PatternRun run;
  run.instants = drain(flows, [&](Time now, std::uint32_t) { run.ends.push_back(now.since_start().count()); });
  return run;
}

}  // namespace gpuscale::bench
