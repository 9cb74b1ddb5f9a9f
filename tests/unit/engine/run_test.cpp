#include "engine/run.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <string>

using namespace gpuscale;

namespace {

struct Letter {
  char letter;
};

/// Writes down what it is called with; `a` sets off more records.
struct Recorder {
  EventQueue<Letter>& queue;
  std::string log;
  bool extend_instant = false;

  void handle(Time now, const Letter& record) {
    log += record.letter;
    if (record.letter == 'a') {
      queue.push(now, {'b'});
      queue.push(Time(now.picoseconds() + 5), {'c'});
    }
  }
  void end_of_instant(Time now) {
    log += '.';
    if (!extend_instant) return;
    extend_instant = false;
    queue.push(now, {'x'});
  }
};

}  // namespace

TEST_SUITE("engine") {
  TEST_CASE("a record pushed for the current instant is handled before the instant ends") {
    EventQueue<Letter> queue;
    Recorder model{queue, {}};
    queue.push(Time(1), {'a'});
    queue.push(Time(1), {'d'});
    CHECK(run(queue, model) == Time(6));
    CHECK(model.log == "adb.c.");
  }

  TEST_CASE("an instant goes on when its end pushes a record for it") {
    EventQueue<Letter> queue;
    Recorder model{queue, {}, true};
    queue.push(Time(1), {'d'});
    queue.push(Time(2), {'e'});
    CHECK(run(queue, model) == Time(2));
    CHECK(model.log == "d.x.e.");
  }

  TEST_CASE("nothing pending ends at once") {
    EventQueue<Letter> queue;
    Recorder model{queue, {}};
    CHECK(run(queue, model) == Time(0));
    CHECK(model.log.empty());
  }
}
