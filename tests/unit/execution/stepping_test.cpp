#include "execution/stepping.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <vector>

#include "execution/execute.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

Time at(Seconds time) { return Time().after(time); }

/// Each card to the next one on a switch, steps of 30 MB.
std::shared_ptr<const StepPattern> ring_on(const Topology& star) {
  std::vector<StepCopy> copies;
  std::vector<ChannelLoad> loads;
  const auto gpus = star.gpus();
  for (std::uint32_t i = 0; i < gpus.size(); ++i) {
    const auto next = static_cast<std::uint32_t>((i + 1) % gpus.size());
    copies.push_back({.from = i, .to = next, .cap = kUncapped, .first_load = 2 * i, .load_count = 2});
    for (const ChannelId channel : star.route(gpus[i], gpus[next]).channels) loads.push_back({channel, 1.0});
  }
  return std::make_shared<const StepPattern>(gpus.size(), std::move(copies), std::move(loads));
}

ChannelId way_out_of(const Topology& star, std::size_t card) {
  return star.route(star.gpus()[card], star.gpus()[(card + 1) % star.gpus().size()]).channels.front();
}

/// All steps of a ring as one transfer.
TaskId add_ring(PlanBuilder& plan, const Topology& star, std::uint32_t times, bool with_steps) {
  Transfer whole{.amount = 30_MB * static_cast<double>(times)};
  for (std::size_t i = 0; i < star.channels().size(); ++i) whole.loads.push_back({ChannelId(i), 1.0});
  const TaskId task = plan.add(whole);
  const SteppedMove move{.pattern = ring_on(star), .times = times, .steps_of_task = times, .bytes = 30_MB};
  if (with_steps) plan.add_steps(task, {.moves = {move}});
  return task;
}

Transfer beside(ChannelId channel, Bytes amount, Seconds begin) {
  return {.amount = amount, .loads = {{channel, 1.0}}, .latency = begin};
}

}  // namespace

TEST_SUITE("execution") {
  TEST_CASE("ranks of an exchange run ahead of each other beside others") {
    const Topology star = star_of(3, 1_GBps);
    for (const bool with_steps : {true, false}) {
      CAPTURE(with_steps);
      PlanBuilder plan;
      const TaskId ring = add_ring(plan, star, 2, with_steps);
      plan.add(beside(way_out_of(star, 0), 30_MB, 0_s));
      plan.add(beside(way_out_of(star, 2), 30_MB, 60_ms));
      const Timeline timeline = execute(std::move(plan).build(), star);
      // Card 0 needs 60 ms for its first step. Meanwhile card 2 makes both of its own, and has left its link when
      // others come there. The second steps of cards 0 and 1 take 30 ms more; at one pace they take 60.
      CHECK(timeline.tasks[ring.index()].end == at(with_steps ? 90_ms : 120_ms));
    }
  }

  TEST_CASE("an exchange goes on from where it is when others come") {
    const Topology star = star_of(3, 1_GBps);
    PlanBuilder plan;
    const TaskId ring = add_ring(plan, star, 4, true);
    plan.add(beside(way_out_of(star, 0), 10_MB, 50_ms));
    const Timeline timeline = execute(std::move(plan).build(), star);
    // 10 MB of the second step are left after 50 ms: card 0 needs 20 ms for them, all others 10, and all end two steps
    // after card 0 has.
    CHECK(timeline.tasks[ring.index()].end == at(130_ms));
    for (const ChannelUse& use : timeline.channels) CHECK(use.carried.count() >= 120e6 * (1.0 - 1e-9));
    CHECK(timeline.channels[way_out_of(star, 0).index()].carried.count() == doctest::Approx(130e6).epsilon(1e-9));
  }

  TEST_CASE("traffic that meets all copies alike does not part them") {
    const Topology star = star_of(3, 1_GBps);
    for (const bool with_steps : {true, false}) {
      PlanBuilder plan;
      const TaskId ring = add_ring(plan, star, 7, with_steps);
      for (std::size_t card = 0; card < 3; ++card) plan.add(beside(way_out_of(star, card), 17_MB, 1_ms));
      const Timeline timeline = execute(std::move(plan).build(), star);
      CHECK(timeline.tasks[ring.index()].end == at(227_ms));
    }
  }

  TEST_CASE("what an exchange precedes waits for all of its copies") {
    const Topology star = star_of(3, 1_GBps);
    PlanBuilder plan;
    const TaskId ring = add_ring(plan, star, 2, true);
    plan.add(beside(way_out_of(star, 0), 30_MB, 0_s));
    const TaskId next = plan.add(Work{.duration = 1_ms}, {ring});
    const Timeline timeline = execute(std::move(plan).build(), star);
    CHECK(timeline.tasks[next.index()].start == at(90_ms));
    CHECK(timeline.tasks[next.index()].blocker == ring);
  }
}
