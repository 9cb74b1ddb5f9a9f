/// \file
/// Laws of transfers that share the links of whole machines and clusters, shown on what the executor says happened:
/// 200 seeded random cases each of copies and exchanges side by side.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>

#include "network/max_min.hpp"
#include "property/execution/random_machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr std::uint64_t kCases = 200;
constexpr double kNear = 1e-9;

/// Copies and up to three exchanges of random algorithms, coupled or of every step, all from the start.
Plan random_traffic(Dice& dice, const Topology& topology) {
  PlanBuilder plan;
  add_copies(plan, topology, random_copies(dice, topology.gpus().size()));
  const RankGroup group(topology, ranks_of(topology, plan), transport_for(topology), &plan_time);
  const std::size_t exchanges = 1 + dice.below(3);
  for (std::size_t i = 0; i < exchanges; ++i) {
    const AlgorithmEntry& entry = exchange_algorithms()[dice.below(exchange_algorithms().size())];
    const Collective what = entry.collectives[dice.below(entry.collectives.size())];
    if (!can_do(entry, what, group) || what == Collective::send) continue;
    Exchange exchange{.values = 1e6, .size = Bytes(static_cast<double>(1 + dice.below(40'000'000)))};
    if (group.size() <= 8 && dice.below(2) == 0) exchange.fidelity = Fidelity::stepwise;
    Mover mover(plan, group, exchange, Protocol::simple);
    entry.add(mover, what, exchange.size, RankTasks(group.size()), Seconds());
  }
  return std::move(plan).build();
}

/// A transfer of a plan while it moved.
struct Moving {
  TaskId task;
  Time begin;  ///< after its latency
  Time end;
  double left;  ///< bytes
};

std::vector<Moving> moving_tasks(const Plan& plan, const Timeline& timeline) {
  std::vector<Moving> moving;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan.task(TaskId(i));
    const TaskTimes& times = timeline.tasks[i];
    if (!task.is_transfer || task.amount.count() <= 0 || task.load_count == 0) continue;
    moving.push_back({TaskId(i), times.start.after(task.duration), times.end, task.amount.count()});
  }
  return moving;
}

std::vector<Time> instants_of(const std::vector<Moving>& moving) {
  std::vector<Time> instants;
  for (const Moving& one : moving) {
    instants.push_back(one.begin);
    instants.push_back(one.end);
  }
  std::ranges::sort(instants);
  const auto rest = std::ranges::unique(instants);
  instants.erase(rest.begin(), rest.end());
  return instants;
}

/// No channel over capacity, and every flow at its cap or on a full channel where none is faster.
bool is_fair(std::span<const BytesPerSecond> capacity, const std::vector<FlowDemand>& demands,
             const std::vector<BytesPerSecond>& rates) {
  std::vector<double> loads(capacity.size(), 0.0);
  std::vector<double> fastest(capacity.size(), 0.0);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    for (const ChannelLoad& load : demands[i].loads) {
      loads[load.channel.index()] += load.weight * rates[i].count();
      fastest[load.channel.index()] = std::max(fastest[load.channel.index()], rates[i].count());
    }
  }
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i] > capacity[i].count() * (1.0 + kNear)) return false;
  }
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const bool held = std::ranges::any_of(demands[i].loads, [&](const ChannelLoad& load) {
      const std::size_t channel = load.channel.index();
      return loads[channel] >= capacity[channel].count() * (1.0 - kNear) &&
             rates[i].count() >= fastest[channel] * (1.0 - kNear);
    });
    if (!held && rates[i].count() < demands[i].cap.count() * (1.0 - kNear)) return false;
  }
  return true;
}

/// What was under way from one instant to the next, by number in `moving`.
std::vector<std::size_t> under_way(const std::vector<Moving>& moving, Time from) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < moving.size(); ++i) {
    if (moving[i].begin <= from && moving[i].end > from) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace

TEST_SUITE("execution") {
  TEST_CASE("executed traffic moves at fair rates at every instant") {
    // The executor says when each transfer moved. In each interval between two of these instants, fair rates of those
    // under way keep every channel within its capacity and each transfer held by a full channel or its cap; and moving
    // at these rates, each has sent its bytes exactly when the executor says so. So the executor's rates were these.
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 2000);
      const Topology topology = build(random_draft(dice));
      std::vector<BytesPerSecond> capacity;
      for (const Channel& channel : topology.channels()) capacity.push_back(channel.rate);
      const Plan plan = random_traffic(dice, topology);
      std::vector<Moving> moving = moving_tasks(plan, execute(plan, topology));
      const std::vector<Time> instants = instants_of(moving);
      for (std::size_t k = 0; k + 1 < instants.size(); ++k) {
        const std::vector<std::size_t> numbers = under_way(moving, instants[k]);
        std::vector<FlowDemand> demands;
        for (const std::size_t number : numbers) {
          const std::span<const ChannelLoad> loads = plan.loads(moving[number].task);
          demands.push_back({{loads.begin(), loads.end()}, plan.task(moving[number].task).cap});
        }
        const std::vector<BytesPerSecond> rates = max_min_rates(capacity, demands);
        CHECK(is_fair(capacity, demands, rates));
        for (std::size_t i = 0; i < numbers.size(); ++i)
          moving[numbers[i]].left -= (rates[i] * (instants[k + 1] - instants[k])).count();
      }
      for (const Moving& one : moving) {
        const double amount = plan.task(one.task).amount.count();
        CHECK(std::abs(one.left) <= 1e-6 * amount + 1.0);  // ends are whole picoseconds
      }
    }
  }

  TEST_CASE("executed traffic never loads a channel beyond what its rate carries in the time") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Topology topology = build(random_draft(dice));
      const Timeline timeline = execute(random_traffic(dice, topology), topology);
      for (std::size_t i = 0; i < timeline.channels.size(); ++i) {
        const ChannelUse& use = timeline.channels[i];
        const double most = (topology.channels()[i].rate * use.busy).count();
        CHECK(use.carried.count() <= most * (1.0 + kNear) + 1.0);
        CHECK(use.busy.count() <= timeline.end.since_start().count() * (1.0 + 1e-12));
      }
    }
  }

  TEST_CASE("what executed traffic sends is what arrives over every channel of its ways") {
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
      CAPTURE(seed);
      Dice dice(seed + 1000);
      const Topology topology = build(random_draft(dice));
      const Plan plan = random_traffic(dice, topology);
      std::vector<double> expected(topology.channels().size(), 0.0);
      for (std::size_t i = 0; i < plan.size(); ++i) {
        for (const ChannelLoad& load : plan.loads(TaskId(i)))
          expected[load.channel.index()] += load.weight * plan.task(TaskId(i)).amount.count();
      }
      const Timeline timeline = execute(plan, topology);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(std::abs(timeline.channels[i].carried.count() - expected[i]) <= kNear * expected[i]);
      }
    }
  }
}
