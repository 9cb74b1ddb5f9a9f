#include "execution/gates.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "execution/execute.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

struct Piece {
  double credit;
  int urgency;
  Seconds length = 1_ms;
  Seconds ready = {};
};

/// By piece, the millisecond at which it ends.
std::vector<double> ends(double credit, const std::vector<Piece>& pieces) {
  PlanBuilder plan;
  const GateId gate = plan.add_gate(credit);
  std::vector<TaskId> left;
  for (const Piece& piece : pieces) {
    GatePass pass{.gate = gate, .credit = piece.credit, .urgency = piece.urgency};
    const TaskId ready = plan.add(Work{.duration = piece.ready});
    const TaskId entered = plan.add(pass, std::vector{ready});
    const TaskId done = plan.add(Work{.duration = piece.length}, {entered});
    pass.returns = true;
    left.push_back(plan.add(pass, std::vector{done}));
  }
  const Timeline timeline = execute(std::move(plan).build(), star_of(2, 1_GBps));
  std::vector<double> times;
  for (const TaskId id : left) times.push_back(timeline.tasks[id.index()].end.since_start().count() * 1e3);
  return times;
}

}  // namespace

TEST_SUITE("execution") {
  TEST_CASE("of those that wait at a gate the most urgent enters first") {
    CHECK(ends(1, {{.credit = 1, .urgency = 5}, {.credit = 1, .urgency = 3}, {.credit = 1, .urgency = 1}}) ==
          std::vector<double>{1, 3, 2});
  }

  TEST_CASE("equally urgent ones enter in the order in which they came") {
    CHECK(ends(1, {{.credit = 1, .urgency = 0}, {.credit = 1, .urgency = 0}, {.credit = 1, .urgency = 0}}) ==
          std::vector<double>{1, 2, 3});
  }

  TEST_CASE("nobody who has entered is put out by one more urgent") {
    CHECK(ends(1, {{.credit = 1, .urgency = 5, .length = 4_ms}, {.credit = 1, .urgency = 1, .ready = 1_ms}}) ==
          std::vector<double>{4, 5});
  }

  TEST_CASE("the last that enters may take more credit than is left") {
    // Two of credit: the first leaves one, the second takes three, the third waits until some is left again.
    CHECK(ends(2, {{.credit = 1, .urgency = 0},
                   {.credit = 3, .urgency = 0, .length = 2_ms},
                   {.credit = 1, .urgency = 0}}) == std::vector<double>{1, 2, 3});
  }
}
