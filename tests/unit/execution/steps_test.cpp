#include "execution/steps.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace gpuscale;

namespace {

/// Each of `ranks` to the next, of a line or all round.
std::shared_ptr<const StepPattern> chain(std::uint32_t ranks, bool line) {
  std::vector<StepCopy> copies;
  for (std::uint32_t i = 0; i + (line ? 1 : 0) < ranks; ++i)
    copies.push_back({.from = i, .to = (i + 1) % ranks, .first_step = line ? i : 0, .latency = 1_us});
  return std::make_shared<const StepPattern>(ranks, std::move(copies), std::vector<ChannelLoad>());
}

SteppedExchange one_move(std::shared_ptr<const StepPattern> pattern, std::uint32_t times) {
  const std::uint32_t steps = times + pattern->fill();
  const SteppedMove move{
      .pattern = std::move(pattern), .times = times, .steps_of_task = steps, .bytes = 8_B, .opening = 2_us};
  return {.moves = {move}, .tasks = 1};
}

std::vector<std::uint32_t> copies_of(const std::vector<Steps::Start>& starts) {
  std::vector<std::uint32_t> copies;
  for (const Steps::Start& start : starts) copies.push_back(start.copy);
  std::ranges::sort(copies);
  return copies;
}

using Copies = std::vector<std::uint32_t>;

}  // namespace

TEST_SUITE("execution") {
  TEST_CASE("a rank makes a step once all its copies of the step before have ended") {
    const SteppedExchange exchange = one_move(chain(3, false), 2);
    Steps steps(exchange, std::vector<TaskProgress>(1));
    CHECK(steps.take_starts().empty());
    steps.begin(0);
    const std::vector<Steps::Start> first = steps.take_starts();
    CHECK(copies_of(first) == Copies{0, 1, 2});
    CHECK(first.front().amount == 8_B);
    CHECK(first.front().latency.count() == doctest::Approx(3e-6));  // with what opens the exchange
    steps.finish(0, 1);                                             // 1 to 2
    steps.finish(0, 2);                                             // 2 to 0
    const std::vector<Steps::Start> second = steps.take_starts();
    CHECK(copies_of(second) == Copies{2});  // rank 2 has sent and received
    CHECK(second.front().latency == 1_us);
    steps.finish(0, 2);
    CHECK(steps.take_starts().empty());
    steps.finish(0, 0);
    CHECK(copies_of(steps.take_starts()) == Copies{0, 1});
    steps.finish(0, 0);
    CHECK(steps.take_ended().empty());
    steps.finish(0, 1);
    CHECK(steps.take_ended() == Copies{0});
  }

  TEST_CASE("chunks of a line follow each other") {
    const SteppedExchange exchange = one_move(chain(3, true), 2);
    Steps steps(exchange, std::vector<TaskProgress>(1));
    steps.begin(0);
    CHECK(copies_of(steps.take_starts()) == Copies{0});
    steps.finish(0, 0);
    CHECK(copies_of(steps.take_starts()) == Copies{0, 1});
    steps.finish(0, 0);
    CHECK(steps.take_starts().empty());
    steps.finish(0, 1);
    CHECK(copies_of(steps.take_starts()) == Copies{1});
    steps.finish(0, 1);
    CHECK(steps.take_ended() == Copies{0});
  }

  TEST_CASE("steps are taken up where their task is and latency is not paid twice") {
    const SteppedExchange exchange = one_move(chain(2, false), 4);
    Steps steps(exchange, std::vector{TaskProgress{.done = 0.625, .begun = true}});
    const std::vector<Steps::Start> starts = steps.take_starts();
    CHECK(copies_of(starts) == Copies{0, 1});
    CHECK(starts.front().amount.count() == doctest::Approx(4.0));  // half of the third step
    CHECK(starts.front().latency == 0_s);
    for (const std::uint32_t copy : {0U, 1U}) steps.finish(0, copy);
    const std::vector<Steps::Start> last = steps.take_starts();
    CHECK(copies_of(last) == Copies{0, 1});
    CHECK(last.front().amount == 8_B);
    for (const std::uint32_t copy : {0U, 1U}) steps.finish(0, copy);
    CHECK(steps.take_starts().empty());
    CHECK(steps.take_ended() == Copies{0});
  }

  TEST_CASE("a task that waits for its latency leaves the rest of it to its first step") {
    const SteppedExchange exchange = one_move(chain(2, false), 2);
    Steps steps(exchange, std::vector{TaskProgress{.begun = true, .latency = 5_us}});
    CHECK(steps.take_starts().front().latency == 5_us);
    for (const std::uint32_t copy : {0U, 1U}) steps.finish(0, copy);
    CHECK(steps.take_starts().front().latency == 0_s);
  }

  TEST_CASE("a rank goes on to the next move as soon as it is done with the one before") {
    SteppedExchange exchange = one_move(chain(4, true), 1);  // a line of one chunk, twice
    exchange.moves.push_back(exchange.moves.front());
    exchange.moves.back().first_task = 1;
    exchange.moves.back().after = {0};
    exchange.tasks = 2;
    Steps steps(exchange, std::vector<TaskProgress>(2));
    steps.begin(0);
    CHECK(copies_of(steps.take_starts()) == Copies{0});
    steps.finish(0, 0);  // rank 0 is done, rank 1 not yet
    CHECK(steps.take_starts().front().move == 0);
    steps.finish(0, 1);  // rank 1 is done: the second line begins
    const std::vector<Steps::Start> starts = steps.take_starts();
    REQUIRE(starts.size() == 2);
    CHECK(starts[0].move + starts[1].move == 1);
    CHECK(steps.take_ended().empty());
  }
}
