#include <doctest/doctest.h>

#include "collective/all_reduce.hpp"
#include "execution/execute.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

using Amounts = std::vector<std::vector<Bytes>>;

double time_of(const Topology& machine, const Amounts& amounts, const Transport& transport = {}) {
  PlanBuilder plan;
  const RankGroup group(machine, participants_of(machine, plan), transport, &plan_time);
  add_all_to_all_v(plan, group, {}, amounts, RankTasks(group.size()));
  return execute(std::move(plan).build(), machine).end.since_start().count();
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("unequal amounts take as long as the busiest link") {
    // Rank 0 sends 60 MB, rank 3 receives 70 MB; each link carries 10 GB/s each way.
    const Amounts amounts = {
        {5_MB, 10_MB, 20_MB, 30_MB}, {0_B, 0_B, 0_B, 25_MB}, {1_MB, 0_B, 0_B, 15_MB}, {0_B, 0_B, 0_B, 9_MB}};
    CHECK(time_of(star_of(4, 10_GBps), amounts) == doctest::Approx(70e6 / 10e9).epsilon(1e-9));
  }

  TEST_CASE("equal amounts are an all-to-all") {
    const Topology machine = star_of(8, 10_GBps, 1_us);
    const Amounts amounts(8, std::vector<Bytes>(8, 8_MB));
    PlanBuilder plan;
    const RankGroup group(machine, participants_of(machine, plan), {}, &plan_time);
    Exchange exchange;
    exchange.size = 64_MB;
    add_collective(plan, group, Collective::all_to_all, ExchangeAlgorithm::direct, exchange, RankTasks(8));
    CHECK(time_of(machine, amounts) == execute(std::move(plan).build(), machine).end.since_start().count());
  }

  TEST_CASE("nothing to send takes no time and ranks in no copy wait for none") {
    const Topology machine = star_of(3, 10_GBps);
    CHECK(time_of(machine, Amounts(3, std::vector<Bytes>(3))) == 0.0);
    PlanBuilder plan;
    const RankGroup group(machine, participants_of(machine, plan), {}, &plan_time);
    Amounts amounts(3, std::vector<Bytes>(3));
    amounts[0][1] = 10_MB;
    const RankTasks ready(3, plan.add(Work{.lane = group.ranks()[0].compute, .duration = 1_ms}));
    const RankTasks done = add_all_to_all_v(plan, group, {}, amounts, ready);
    CHECK(done[2] == ready[2]);
    CHECK(done[0] != ready[0]);
  }

  TEST_CASE("a rank pays for the peers that it sends to and no others") {
    Transport transport;
    transport.peer = 1_us;
    const Topology machine = star_of(8, 10_GBps);
    Amounts ring(8, std::vector<Bytes>(8));
    for (std::size_t i = 0; i < 8; ++i) ring[i][(i + 1) % 8] = 10_MB;
    Amounts two = ring;
    for (std::size_t i = 0; i < 8; ++i) two[i][(i + 2) % 8] = 10_MB;
    CHECK(time_of(machine, ring, transport) == doctest::Approx(1e-3).epsilon(1e-9));
    CHECK(time_of(machine, two, transport) == doctest::Approx(2e-3 + 1e-6).epsilon(1e-9));
  }
}
