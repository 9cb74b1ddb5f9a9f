#include <cmath>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

#include "property/collective/equal_machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr Bytes kSize = 100_MB;

/// A transfer over one link that has nothing to do with the exchange.
Transfer random_other(std::mt19937& random, const Topology& topology, bool steady) {
  Transfer other;
  other.loads = {{topology.links()[random() % topology.links().size()].channel, 1.0}};
  const auto below = [&](unsigned limit) { return static_cast<double>(random() % limit); };
  other.amount = steady ? Bytes(1e11) : Bytes(1e6 * (5.0 + below(400)));
  if (random() % 3 == 0) other.cap = BytesPerSecond(1e8 * (1.0 + below(12)));
  if (!steady) other.latency = Seconds(1e-3 * below(100));
  return other;
}

/// By how much the coupled form is slower (above 0) than the stepwise one beside others.
double excess(const AlgorithmEntry& entry, Collective what, const Machine& machine,
              const std::vector<Transfer>& others) {
  const auto time = [&](Fidelity fidelity) {
    const Run run = run_exchange(entry, what, machine.topology, kSize, fidelity, machine.transport, others);
    return exchange_end(run, others.size()).count();
  };
  return time(Fidelity::coupled) / time(Fidelity::stepwise) - 1.0;
}

/// What goes on beside an exchange.
struct Others {
  std::size_t count;
  bool steady;
};

/// What the coupled form may be off by. Most are off by latency only, which it pays before its first byte. Sums in
/// switches keep one pace, and moves of a hierarchical exchange meet each other as well.
double tolerance(ExchangeAlgorithm algorithm) {
  const bool keeps_pace = algorithm == ExchangeAlgorithm::in_switch || algorithm == ExchangeAlgorithm::hierarchical;
  return keeps_pace ? 0.01 : 0.0025;
}

/// Every algorithm and collective, each in 40 random cases.
template <class Check>
void for_random_cases(unsigned seed, const Others& others, Check&& check) {
  std::mt19937 random(seed);
  for (const AlgorithmEntry& entry : exchange_algorithms()) {
    for (const Collective what : entry.collectives) {
      for (int i = 0; i < 40; ++i) {
        const int ranks = what == Collective::send ? 2 : 2 + static_cast<int>(random() % 23);
        if (!makes_sense(entry, what, ranks)) continue;
        const Machine machine = machine_for(entry.algorithm, ranks, 1_us);
        std::vector<Transfer> beside;
        for (std::size_t k = 0; k < others.count; ++k)
          beside.push_back(random_other(random, machine.topology, others.steady));
        const std::string which = case_name(entry, what, ranks);
        CAPTURE(which);
        CAPTURE(i);
        check(entry.algorithm, excess(entry, what, machine, beside));
      }
    }
  }
}

/// By how much a ring at one pace, as one of too many copies to be worked, is slower than one of steps whose data goes
/// round in so many loops.
double excess_in_loops(std::size_t loops, const Machine& machine, const std::vector<Transfer>& others) {
  const auto time = [&](Fidelity fidelity) {
    PlanBuilder plan;
    const RankGroup group(machine.topology, participants_of(machine.topology, plan), machine.transport, &plan_time);
    plan.label("exchange");
    for (const Transfer& other : others) plan.add(other);
    Exchange exchange;
    exchange.fidelity = fidelity;
    Mover mover(plan, group, exchange, Protocol::simple);
    const std::size_t steps = 2 * (group.size() - 1) * loops;
    mover.move(group.ring(), steps, kSize / (group.count() * static_cast<double>(loops)), RankTasks(group.size()));
    Run run{std::move(plan).build(), {}};
    run.timeline = execute(run.plan, machine.topology);
    return exchange_end(run, others.size()).count();
  };
  return time(Fidelity::coupled) / time(Fidelity::stepwise) - 1.0;
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("coupled is within a hundredth of stepwise beside another transfer for every algorithm") {
    for_random_cases(1, {.count = 1, .steady = false},
                     [](ExchangeAlgorithm algorithm, double off) { CHECK(std::abs(off) <= tolerance(algorithm)); });
  }

  TEST_CASE("coupled is within a hundredth of stepwise beside steady traffic on four links for every algorithm") {
    for_random_cases(2, {.count = 4, .steady = true},
                     [](ExchangeAlgorithm algorithm, double off) { CHECK(std::abs(off) <= tolerance(algorithm)); });
  }

  TEST_CASE("coupled is within a hundredth of stepwise beside traffic that comes and goes for every algorithm") {
    for_random_cases(3, {.count = 4, .steady = false},
                     [](ExchangeAlgorithm algorithm, double off) { CHECK(std::abs(off) <= tolerance(algorithm)); });
  }

  TEST_CASE("the more loops a ring makes the less its steps can absorb that one pace adds up") {
    // A rank runs ahead by the steps of half a loop at most.
    std::mt19937 random(3);
    for (int i = 0; i < 40; ++i) {
      const Machine machine = machine_for(ExchangeAlgorithm::ring, 2 + static_cast<int>(random() % 15), 1_us);
      std::vector<Transfer> beside;
      for (int k = 0; k < 4; ++k) beside.push_back(random_other(random, machine.topology, false));
      for (const std::size_t loops : {1, 4, 16}) {
        CAPTURE(i);
        CAPTURE(loops);
        const double off = excess_in_loops(loops, machine, beside);
        CHECK(off >= -0.001);
        CHECK(off <= 0.5 / static_cast<double>(loops));
      }
    }
  }
}
