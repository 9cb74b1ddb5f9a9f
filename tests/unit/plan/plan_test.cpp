#include "plan/plan.hpp"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <vector>

using namespace gpuscale;

TEST_SUITE("plan") {
  TEST_CASE("edges lead from what is required to what requires it") {
    PlanBuilder builder;
    const LaneId lane = builder.add_lane("gpu0");
    const TaskId first = builder.add(Work{.lane = lane, .duration = 1_us});
    const TaskId second = builder.add(Work{.lane = lane, .duration = 1_us}, {first});
    const TaskId third = builder.add(Work{.lane = lane, .duration = 1_us}, {first, second});
    const Plan plan = std::move(builder).build();
    REQUIRE(plan.successors(first).size() == 2);
    CHECK(plan.successors(first)[0] == second);
    CHECK(plan.successors(first)[1] == third);
    CHECK(plan.requirement_count(third) == 2);
    CHECK(plan.successors(third).empty());
  }

  TEST_CASE("a requirement that names no task is no requirement") {
    PlanBuilder builder;
    const TaskId task = builder.add(Work{.duration = 1_us}, {TaskId()});
    CHECK(std::move(builder).build().requirement_count(task) == 0);
  }

  TEST_CASE("a task cannot require one that is not there yet") {
    PlanBuilder builder;
    CHECK_THROWS_AS(builder.add(Work{.duration = 1_us}, {TaskId(5)}), std::logic_error);
  }

  TEST_CASE("the same label has one number") {
    PlanBuilder builder;
    CHECK(builder.label("conv1 forward") == builder.label("conv1 forward"));
    CHECK(builder.label("conv1 forward") != builder.label("conv1 backward"));
  }

  TEST_CASE("joining one task is that task") {
    PlanBuilder builder;
    const TaskId task = builder.add(Work{.duration = 1_us});
    CHECK(builder.join(std::array{task}) == task);
    CHECK(builder.size() == 1);
  }

  TEST_CASE("tasks that were given no label have an empty one") {
    PlanBuilder builder;
    const TaskId transfer = builder.add(Transfer{.amount = 1_MB});
    CHECK(std::move(builder).build().label(transfer).empty());
  }

  TEST_CASE("which moves of an exchange follow which is seen through joins") {
    PlanBuilder builder;
    const TaskId before = builder.add(Work{.duration = 1_us});
    const auto pattern =
        std::make_shared<const StepPattern>(2, std::vector<StepCopy>{{.from = 0, .to = 1}}, std::vector<ChannelLoad>());
    const Transfer transfer{.amount = 1_MB};
    const TaskId first = builder.add(transfer, {before});
    const TaskId second = builder.add(transfer, {before});
    const TaskId both = builder.join(std::array{first, second});
    builder.add(transfer, {both});
    const SteppedMove move{.pattern = pattern, .times = 1, .steps_of_task = 1};
    SteppedExchange exchange{.moves = {move, move, move}};
    for (const std::uint32_t i : {0U, 1U, 2U}) exchange.moves[i].first_task = i < 2 ? i : 3;
    builder.add_steps(first, exchange);
    const Plan plan = std::move(builder).build();
    REQUIRE(plan.stepped().size() == 1);
    const SteppedExchange& noted = *plan.stepped().front().steps;
    CHECK(noted.tasks == 4);
    CHECK(noted.moves[0].after.empty());
    CHECK(noted.moves[1].after.empty());
    CHECK(noted.moves[2].after == std::vector<std::uint32_t>{0, 1});
  }

  TEST_CASE("exchanges of more copies than anybody would wait for are not worked step by step") {
    const auto pattern =
        std::make_shared<const StepPattern>(2, std::vector<StepCopy>{{.from = 0, .to = 1}}, std::vector<ChannelLoad>());
    const auto exchanges_kept = [&](std::uint32_t copies_each) {
      PlanBuilder builder;
      for (int exchange = 0; exchange < 2; ++exchange) {
        const TaskId task = builder.add(Transfer{.amount = 1_MB});
        const SteppedMove move{.pattern = pattern, .times = copies_each, .steps_of_task = copies_each};
        builder.add_steps(task, {.moves = {move}});
      }
      return std::move(builder).build().stepped().size();
    };
    CHECK(exchanges_kept(50'000) == 2);
    CHECK(exchanges_kept(50'001) == 0);
  }
}
