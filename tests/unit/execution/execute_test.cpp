#include "execution/execute.hpp"

#include <doctest/doctest.h>

#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

Work compute(LaneId lane, Seconds duration) {
  return {.activity = Activity::compute, .lane = lane, .duration = duration};
}

Time at(Seconds time) { return Time().after(time); }

/// A transfer of `size` over the first channel of a machine.
Transfer over_first_channel(Bytes size) {
  Transfer transfer;
  transfer.amount = size;
  transfer.loads = {{ChannelId(0), 1.0}};
  return transfer;
}

}  // namespace

TEST_SUITE("execution") {
  TEST_CASE("a lane does one task at a time in the order in which they became ready") {
    PlanBuilder plan;
    const LaneId lane = plan.add_lane("gpu0");
    const TaskId first = plan.add(compute(lane, 3_us));
    const TaskId second = plan.add(compute(lane, 2_us));
    const Timeline timeline = execute(std::move(plan).build(), star_of(2, 10_GBps));
    CHECK(timeline.tasks[first.index()].end == at(3_us));
    CHECK(timeline.tasks[second.index()].start == at(3_us));
    CHECK(timeline.tasks[second.index()].blocker == first);
    CHECK(timeline.end == at(5_us));
  }

  TEST_CASE("tasks on two lanes without an edge overlap") {
    PlanBuilder plan;
    plan.add(compute(plan.add_lane("gpu0"), 3_us));
    plan.add(compute(plan.add_lane("gpu1"), 2_us));
    CHECK(execute(std::move(plan).build(), star_of(2, 10_GBps)).end == at(3_us));
  }

  TEST_CASE("a transfer takes its latency and then its bytes at the channel's rate") {
    PlanBuilder plan;
    Transfer transfer = over_first_channel(100_MB);
    transfer.latency = 5_us;
    plan.add(transfer);
    CHECK(execute(std::move(plan).build(), star_of(2, 10_GBps)).end == at(10_ms + 5_us));
  }

  TEST_CASE("two transfers on one channel share it") {
    PlanBuilder plan;
    const TaskId small = plan.add(over_first_channel(50_MB));
    const TaskId large = plan.add(over_first_channel(100_MB));
    const Timeline timeline = execute(std::move(plan).build(), star_of(2, 10_GBps));
    CHECK(timeline.tasks[small.index()].end == at(10_ms));  // half the rate each
    CHECK(timeline.tasks[large.index()].end == at(15_ms));  // then the rest alone
  }

  TEST_CASE("compute beside an exchange runs at the speed it is left") {
    PlanBuilder plan;
    const LaneId lane = plan.add_lane("gpu0");
    const TaskId kernel = plan.add(compute(lane, 10_ms));
    Transfer transfer = over_first_channel(50_MB);  // 5 ms
    transfer.slowed_lanes = {lane};
    transfer.slowdown = 0.2;
    plan.add(transfer);
    const Plan built = std::move(plan).build();
    const Timeline timeline = execute(built, star_of(2, 10_GBps));
    // 5 ms at 0.8 leave 6 ms of work: 11 ms in all, of which 1 ms is booked to the exchange.
    CHECK(timeline.tasks[kernel.index()].end == at(11_ms));
    const StepTimes split = times_by_activity(built, timeline);
    CHECK(split[static_cast<std::size_t>(Activity::compute)].count() == doctest::Approx(10e-3).epsilon(1e-9));
    CHECK(split[static_cast<std::size_t>(Activity::exchange)].count() == doctest::Approx(1e-3).epsilon(1e-9));
  }

  TEST_CASE("times by activity sum to the end") {
    PlanBuilder plan;
    const LaneId host = plan.add_lane("host");
    const LaneId gpu = plan.add_lane("gpu0");
    const TaskId issue = plan.add(Work{.activity = Activity::host, .lane = host, .duration = 20_us});
    const TaskId kernel = plan.add(compute(gpu, 100_us), {issue});
    plan.add(over_first_channel(1_MB), {kernel});
    const Plan built = std::move(plan).build();
    const Timeline timeline = execute(built, star_of(2, 10_GBps));
    Seconds sum;
    for (const Seconds part : times_by_activity(built, timeline)) sum += part;
    CHECK(sum.count() == doctest::Approx(timeline.end.since_start().count()).epsilon(1e-12));
  }

  TEST_CASE("an exchange beside compute is hidden and only what outlasts it is exposed") {
    PlanBuilder plan;
    const LaneId gpu = plan.add_lane("gpu0");
    const TaskId first = plan.add(compute(gpu, 4_ms));
    plan.add(compute(gpu, 6_ms), {first});
    plan.add(over_first_channel(80_MB), {first});  // 8 ms, of which 6 beside the second kernel
    const Plan built = std::move(plan).build();
    const StepTimes times = times_by_activity(built, execute(built, star_of(2, 10_GBps)));
    CHECK(times[static_cast<std::size_t>(Activity::compute)].count() == doctest::Approx(10e-3).epsilon(1e-9));
    CHECK(times[static_cast<std::size_t>(Activity::exchange)].count() == doctest::Approx(2e-3).epsilon(1e-9));
  }

  TEST_CASE("another GPU that computes meanwhile does not hide what this one waits for") {
    PlanBuilder plan;
    const LaneId busy = plan.add_lane("gpu0");
    const LaneId late = plan.add_lane("gpu1");
    plan.add(compute(busy, 5_ms));
    const TaskId arrival = plan.add(over_first_channel(100_MB));  // 10 ms
    plan.add(compute(late, 5_ms), {arrival});
    const Plan built = std::move(plan).build();
    const StepTimes times = times_by_activity(built, execute(built, star_of(2, 10_GBps)));
    CHECK(times[static_cast<std::size_t>(Activity::compute)].count() == doctest::Approx(5e-3).epsilon(1e-9));
    CHECK(times[static_cast<std::size_t>(Activity::exchange)].count() == doctest::Approx(10e-3).epsilon(1e-9));
  }

  TEST_CASE("a run beyond simulated time is refused and not wrapped round") {
    PlanBuilder plan;
    plan.add(compute(plan.add_lane("gpu0"), Seconds(1e9)));
    CHECK_THROWS_AS(execute(std::move(plan).build(), star_of(2, 10_GBps)), RunTooLong);
    PlanBuilder slow;
    slow.add(over_first_channel(Bytes(1e30)));
    CHECK_THROWS_AS(execute(std::move(slow).build(), star_of(2, 10_GBps)), RunTooLong);
  }

  TEST_CASE("a transfer of nothing still takes its latency") {
    PlanBuilder plan;
    Transfer transfer = over_first_channel(0_B);
    transfer.latency = 3_us;
    plan.add(transfer);
    CHECK(execute(std::move(plan).build(), star_of(2, 10_GBps)).end == at(3_us));
  }

  TEST_CASE("two runs of a plan are equal to the picosecond") {
    PlanBuilder plan;
    const LaneId lane = plan.add_lane("gpu0");
    TaskId before;
    for (int i = 0; i < 100; ++i) {
      before = plan.add(compute(lane, 1.7_us * i), {before});
      plan.add(over_first_channel(3_MB * (i % 7)), {before});
    }
    const Plan built = std::move(plan).build();
    const Topology machine = star_of(2, 10_GBps);
    CHECK(fingerprint(execute(built, machine)) == fingerprint(execute(built, machine)));
  }

  TEST_CASE("an empty plan ends when it starts") {
    CHECK(execute(std::move(PlanBuilder()).build(), star_of(2, 1_GBps)).end == Time());
  }
}
