/// \file
/// Flows per second of the flow model on the patterns of training traffic. Every flow is its own
/// here; a coupled flow stands for a whole ring and is a benchmark of its own. Beside another simulator:
/// simgrid/simgrid_bench.cpp.

#include <benchmark/benchmark.h>
#include <cstdint>
#include <vector>

#include "bench/patterns.hpp"

namespace gpuscale::bench {
namespace {

void report(benchmark::State& state, std::size_t flows, std::size_t instants) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(flows));
  state.counters["flows"] = static_cast<double>(flows);
  state.counters["instants"] = static_cast<double>(instants);
}

void ring_of_every_step(benchmark::State& state) {
  const auto hosts = static_cast<std::size_t>(state.range(0));
  const Network network = star(hosts);
  const RingPattern ring = ring_pattern(hosts, 1, 100_MB);
  PatternRun run;
  for (auto _ : state) run = run_ring(network, ring, false);
  report(state, ring.flows(), run.instants);
}

void ring_coupled(benchmark::State& state) {
  const auto hosts = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) run_coupled_ring(hosts, 100_MB);
  report(state, 1, 1);
}

void run_at_once(benchmark::State& state, const Network& network, const std::vector<TimedFlow>& flows) {
  const std::vector<std::vector<ChannelLoad>> routes = routes_of(network, flows);
  PatternRun run;
  for (auto _ : state) run = run_flows(network, flows, routes, false);
  report(state, flows.size(), run.instants);
  state.counters["most active"] = static_cast<double>(run.most_active);
}

void all_to_all(benchmark::State& state) {
  const auto hosts = static_cast<std::size_t>(state.range(0));
  run_at_once(state, star(hosts), all_to_all_flows(hosts));
}

constexpr std::size_t kHosts = 1024;
constexpr std::size_t kRandomFlows = 97 * kHosts;  // 99,328

void random_at_once(benchmark::State& state) {
  run_at_once(state, fat_tree(), random_flows(kRandomFlows, kHosts, state.range(0) == 1));
}

/// 20,000 flows that arrive at random, at the given percentage of what the hosts can send.
void poisson_arrivals(benchmark::State& state) {
  run_at_once(state, fat_tree(), poisson_flows(20'000, kHosts, static_cast<double>(state.range(0)) / 100.0));
}

void run_turns(benchmark::State& state, Turns turns) {
  const Network network = fat_tree();
  const std::vector<TimedFlow> flows = random_flows(kRandomFlows, kHosts, state.range(0) == 1);
  const std::vector<std::vector<ChannelLoad>> routes = routes_of(network, flows);
  PatternRun run;
  for (auto _ : state) run = run_in_turns(network, flows, routes, turns, false);
  report(state, flows.size(), run.instants);
}

/// Every host sends its 97 flows one after the other.
void random_in_turn(benchmark::State& state) { run_turns(state, Turns::per_host); }

/// 97 rounds of one flow from every host; a round starts when the one before is complete.
void random_in_rounds(benchmark::State& state) { run_turns(state, Turns::rounds); }

BENCHMARK(ring_of_every_step)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_coupled)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(all_to_all)->Arg(64)->Arg(256)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK(random_at_once)->ArgName("equal")->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(random_in_turn)->ArgName("equal")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(random_in_rounds)->ArgName("equal")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(poisson_arrivals)->ArgName("percent")->Arg(50)->Arg(60)->Arg(70)->Arg(80)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpuscale::bench

BENCHMARK_MAIN();
