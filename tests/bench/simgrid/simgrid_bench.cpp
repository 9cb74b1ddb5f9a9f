/// \file
/// Our flow model beside SimGrid: the same flows over the same links, completion times and wall clock.
/// Usage: simgrid_bench [oracle|speed|all [PATTERN]]; a pattern is the beginning of a name in the tables. Exits with 1
/// if completion times are further than 2 % apart.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/patterns.hpp"
#include "bench/simgrid/simgrid_runs.hpp"

namespace gpuscale::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAgree = 0.02;
constexpr std::size_t kTreeHosts = 1024;

/// A process of its own for each run of SimGrid, which can only start once in one.
SimgridRun in_child(const std::function<SimgridRun()>& run) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr unsigned kLongest = 1200;  // seconds
    ::alarm(kLongest);
    const SimgridRun done = run();
    std::FILE* out = ::fdopen(ends[1], "wb");
    const std::size_t count = done.ends.size();
    std::fwrite(&done.seconds, sizeof done.seconds, 1, out);
    std::fwrite(&count, sizeof count, 1, out);
    std::fwrite(done.ends.data(), sizeof(double), count, out);
    std::fflush(out);
    ::_exit(0);
  }
  ::close(ends[1]);
  SimgridRun result;
  std::FILE* in = ::fdopen(ends[0], "rb");
  std::size_t count = 0;
  if (std::fread(&result.seconds, sizeof result.seconds, 1, in) == 1 && std::fread(&count, sizeof count, 1, in) == 1) {
    result.ends.resize(count);
    result.ends.resize(std::fread(result.ends.data(), sizeof(double), count, in));
  }
  std::fclose(in);
  ::waitpid(child, nullptr, 0);
  return result;
}

/// One run, as SimGrid gets one.
double seconds_of(const std::function<void()>& run) {
  const Clock::time_point start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool compare_ends(std::string_view name, const std::vector<double>& ours, const std::vector<double>& theirs) {
  if (theirs.empty()) {
    fmt::print("{:<58}{:>8} flows   SimGrid did not finish in time: not compared\n", name, ours.size());
    return false;
  }
  double worst = ours.size() == theirs.size() && !ours.empty() ? 0.0 : 1.0;
  double mean = 0;
  for (std::size_t i = 0; worst < 1.0 && i < ours.size(); ++i) {
    const double off = std::abs(ours[i] - theirs[i]) / theirs[i];
    worst = std::max(worst, off);
    mean += off / static_cast<double>(ours.size());
  }
  const bool agree = worst <= kAgree;
  fmt::print("{:<58}{:>8} flows   mean {:.1e}   worst {:.1e}   {}\n", name, ours.size(), mean, worst,
             agree ? "agree" : "DIFFER");
  std::fflush(stdout);
  return agree;
}

bool ring_agrees(std::string_view where, const Network& network, std::size_t stride) {
  const RingPattern ring = ring_pattern(network.hosts, stride, 100_MB);
  const SimgridRun theirs = in_child([&] { return simgrid_ring(network, ring, SimgridMode::lazy, true); });
  return compare_ends(fmt::format("ring, 100 MB, {} hosts, {}", network.hosts, where),
                      run_ring(network, ring, true).ends, theirs.ends);
}

bool flows_agree(std::string_view name, const Network& network, const std::vector<TimedFlow>& flows) {
  const SimgridRun theirs =
      in_child([&] { return simgrid_flows(network, flows, Starters::one, SimgridMode::lazy, true); });
  return compare_ends(name, run_flows(network, flows, routes_of(network, flows), true).ends, theirs.ends);
}

bool turns_agree(std::string_view name, Turns turns) {
  const Network network = fat_tree();
  const std::vector<TimedFlow> flows = random_flows(20 * kTreeHosts, kTreeHosts, false);
  const SimgridRun theirs = in_child([&] { return simgrid_in_turns(network, flows, turns, SimgridMode::lazy, true); });
  return compare_ends(name, run_in_turns(network, flows, routes_of(network, flows), turns, true).ends, theirs.ends);
}

bool oracle(std::string_view pattern) {
  fmt::print("Completion times beside SimGrid (relative difference of each flow's end)\n");
  bool agree = true;
  const auto wanted = [&](std::string_view name) { return name.starts_with(pattern); };
  if (wanted("ring")) {
    for (const std::size_t hosts : {8UL, 16UL, 32UL, 64UL, 128UL, 256UL}) {
      agree = ring_agrees("star", star(hosts), 1) && agree;
      agree = ring_agrees("two-level tree", two_level_tree(hosts), 1) && agree;
      agree = ring_agrees("two-level tree, every hop crosses", two_level_tree(hosts), 8) && agree;
    }
  }
  if (wanted("random, all at once"))
    agree = flows_agree("random, all at once", fat_tree(), random_flows(2'048, kTreeHosts, false)) && agree;
  if (wanted("random, each host in turn")) agree = turns_agree("random, each host in turn", Turns::per_host) && agree;
  if (wanted("random, Poisson arrivals"))
    agree = flows_agree("random, Poisson arrivals", fat_tree(), poisson_flows(20'000, kTreeHosts, 0.5)) && agree;
  return agree;
}

void print_speed(std::string_view name, std::size_t flows, double ours, double lazy, double full, double target) {
  const double theirs = full > 0 ? std::min(lazy, full) : lazy;
  fmt::print("{:<40}{:>10}{:>12.4f}{:>12.3f}{:>10}{:>9.1f}{:>9.0f}   {}\n", name, flows, ours, lazy,
             full > 0 ? fmt::format("{:.3f}", full) : "-", theirs / ours, target,
             theirs / ours >= target ? "met" : "MISSED");
  std::fflush(stdout);
}

void ring_speed(std::size_t hosts, double target) {
  const Network network = star(hosts);
  const RingPattern ring = ring_pattern(hosts, 1, 100_MB);
  const double ours = seconds_of([&] { run_ring(network, ring, false); });
  const double lazy = in_child([&] { return simgrid_ring(network, ring, SimgridMode::lazy, false); }).seconds;
  const double full = in_child([&] { return simgrid_ring(network, ring, SimgridMode::full, false); }).seconds;
  print_speed(fmt::format("ring of every step, {} hosts", hosts), ring.flows(), ours, lazy, full, target);
}

/// With one actor that starts all flows and with one a host, whichever is faster. `all_ways` also with full
/// updates, which take too long for arrivals.
void flow_speed(std::string_view name, const Network& network, const std::vector<TimedFlow>& flows, double target,
                bool all_ways) {
  const std::vector<std::vector<ChannelLoad>> routes = routes_of(network, flows);
  const double ours = seconds_of([&] { run_flows(network, flows, routes, false); });
  const auto theirs = [&](Starters starters, SimgridMode mode) {
    return in_child([&] { return simgrid_flows(network, flows, starters, mode, false); }).seconds;
  };
  const auto faster = [&](SimgridMode mode) {
    const double one = theirs(Starters::one, mode);
    return all_ways ? std::min(one, theirs(Starters::per_host, mode)) : one;
  };
  const double full = all_ways ? faster(SimgridMode::full) : 0;
  print_speed(name, flows.size(), ours, faster(SimgridMode::lazy), full, target);
}

void turn_speed(std::string_view name, Turns turns, double target) {
  const Network network = fat_tree();
  const std::vector<TimedFlow> flows = random_flows(97 * kTreeHosts, kTreeHosts, true);
  const std::vector<std::vector<ChannelLoad>> routes = routes_of(network, flows);
  const double ours = seconds_of([&] { run_in_turns(network, flows, routes, turns, false); });
  const auto theirs = [&](SimgridMode mode) {
    return in_child([&] { return simgrid_in_turns(network, flows, turns, mode, false); }).seconds;
  };
  print_speed(name, flows.size(), ours, theirs(SimgridMode::lazy),
              turns == Turns::rounds ? theirs(SimgridMode::full) : 0, target);
}

void speed(std::string_view pattern) {
  const auto wanted = [&](std::string_view name) { return name.starts_with(pattern); };
  fmt::print("{:<40}{:>10}{:>12}{:>12}{:>10}{:>9}{:>9}\n", "Wall clock, s", "flows", "ours", "lazy", "full", "ratio",
             "target");
  if (wanted("ring of every step, 256")) ring_speed(256, 12);
  if (wanted("ring of every step, 1024")) ring_speed(1024, 25);
  if (wanted("all-to-all")) flow_speed("all-to-all, 256 hosts", star(256), all_to_all_flows(256), 35, true);
  if (wanted("random")) turn_speed("random, fat tree of 1,024 hosts, in rounds", Turns::rounds, 12);
  if (wanted("the same")) turn_speed("the same, each host in turn", Turns::per_host, 12);
  if (wanted("Poisson"))
    flow_speed("Poisson arrivals at 50 %, the same tree", fat_tree(), poisson_flows(20'000, kTreeHosts, 0.5), 100,
               false);
  const double coupled = seconds_of([] { run_coupled_ring(4096, 100_MB); });
  fmt::print("{:<40}{:>10}{:>12.4f}   (SimGrid has no such flow)\n", "coupled ring, 4,096 hosts", 1, coupled);
}

int main(std::string_view what, std::string_view pattern) {
  const bool agree = what == "speed" || oracle(pattern);
  if (what != "oracle") speed(pattern);
  return agree ? 0 : 1;
}

}  // namespace
}  // namespace gpuscale::bench

int main(int argc, char** argv) { return gpuscale::bench::main(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : ""); }
