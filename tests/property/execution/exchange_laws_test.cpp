/// \file
/// Laws of single exchanges on random machines and clusters: 200 seeded random cases, in each every algorithm that the
/// machine has for every collective.

#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "property/execution/random_machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr std::uint64_t kCases = 200;
constexpr Bytes kSize = 40_MB;

/// Caffe's tree and servers are copies of their own, not one coupled transfer. Where a faster link lets one copy
/// begin earlier, it may take its share of a link from a copy that all wait for: a thousandth at most in these cases.
constexpr double kAnomaly = 1.001;

/// Two times that differ by rounding to picoseconds only.
bool near(Seconds a, Seconds b) { return std::abs((a - b).count()) <= 1e-9 * a.count() + 100e-12; }

Exchange of_size() { return {.values = kSize.count() / 4.0, .size = kSize}; }

/// How long an exchange takes alone; below 0 if the machine does not have the algorithm.
Seconds exchange_time(const Topology& topology, const AlgorithmEntry& entry, Collective what) {
  PlanBuilder plan;
  plan.label("exchange");
  const RankGroup group(topology, ranks_of(topology, plan), transport_for(topology), &plan_time);
  if (!can_do(entry, what, group) || (what == Collective::send && group.size() > 2)) return Seconds(-1.0);
  add_collective(plan, group, what, entry.algorithm, of_size(), RankTasks(group.size()));
  return execute(std::move(plan).build(), topology).end.since_start();
}

using AddServed = std::function<void(PlanBuilder&, const RankGroup&, const RankTasks&)>;

/// All-reduces that are not in the table: Caffe's tree, and parameter servers.
Seconds served_time(const Topology& topology, const AddServed& add) {
  PlanBuilder plan;
  plan.label("exchange");
  const RankGroup group(topology, ranks_of(topology, plan), Transport{}, &plan_time);
  add(plan, group, RankTasks(group.size()));
  return execute(std::move(plan).build(), topology).end.since_start();
}

const std::vector<std::pair<std::string, AddServed>>& served_exchanges() {
  static const std::vector<std::pair<std::string, AddServed>> all = {
      {"tree", [](PlanBuilder& plan, const RankGroup& group,
                  const RankTasks& ready) { add_tree_all_reduce(plan, group, of_size(), ready); }},
      {"parameter_server_gpu",
       [](PlanBuilder& plan, const RankGroup& group, const RankTasks& ready) {
         add_broadcast(plan, group, of_size(), add_reduce_to_first(plan, group, of_size(), ready));
       }},
      {"parameter_server_cpu", [](PlanBuilder& plan, const RankGroup& group, const RankTasks& ready) {
         add_cpu_server(plan, group, of_size(), ready, {.lane = plan.add_lane("server"), .updates = 1.0});
       }}};
  return all;
}

/// Hands every exchange that the first machine has to `check`, with its time on both and whether it is coupled.
template <class Check>
void compare(const Topology& one, const Topology& other, Check&& check) {
  for (const AlgorithmEntry& entry : exchange_algorithms()) {
    for (const Collective what : entry.collectives) {
      const Seconds time = exchange_time(one, entry, what);
      if (time.count() < 0) continue;
      const std::string which = std::string(name(entry.algorithm)) + " " + std::string(name(what));
      CAPTURE(which);
      check(time, exchange_time(other, entry, what), true);
    }
  }
  for (const auto& [which, add] : served_exchanges()) {
    if (which == "parameter_server_cpu" && !has_device(one, DeviceKind::memory)) continue;
    CAPTURE(which);
    check(served_time(one, add), served_time(other, add), false);
  }
}

}  // namespace

TEST_SUITE("execution") {
  TEST_CASE("more bandwidth never slows a single exchange of any algorithm") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 3000);
      const Draft draft = random_draft(dice);
      Draft faster = draft;
      faster.wires[dice.below(draft.wires.size())].rate += 10_GBps;
      compare(build(draft), build(faster), [](Seconds before, Seconds after, bool coupled) {
        CHECK((after < before || near(before, after) || (!coupled && after < before * kAnomaly)));
      });
    }
  }

  TEST_CASE("renumbering all devices changes the time of no exchange") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 4000);
      const Draft draft = random_draft(dice);
      std::vector<std::size_t> order = in_order(draft.devices.size());
      dice.shuffle(order);
      const Topology topology = build(draft);
      const Topology renumbered = build(draft, order);
      compare(topology, renumbered, [](Seconds one, Seconds other, bool) { CHECK(near(one, other)); });
      const std::vector<CopyTask> copies = random_copies(dice, draft.cards);
      CHECK(near(plan_time(plan_of(topology, copies), topology), plan_time(plan_of(renumbered, copies), renumbered)));
    }
  }
}
