#include "engine/event_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <stdexcept>
#include <vector>

using namespace gpuscale;

namespace {

struct Numbered {
  std::uint32_t number;
};

std::vector<std::uint32_t> drain(EventQueue<Numbered>& queue) {
  std::vector<std::uint32_t> numbers;
  while (!queue.empty()) numbers.push_back(queue.pop().number);
  return numbers;
}

}  // namespace

TEST_SUITE("engine") {
  TEST_CASE("records come out in the order of their times") {
    EventQueue<Numbered> queue;
    queue.push(Time(30), {3});
    queue.push(Time(10), {1});
    queue.push(Time(20), {2});
    CHECK(queue.size() == 3);
    CHECK(queue.next_time() == Time(10));
    CHECK(drain(queue) == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(queue.now() == Time(30));
  }

  TEST_CASE("records of one time come out in the order of pushing") {
    EventQueue<Numbered> queue;
    queue.push(Time(5), {0});
    for (std::uint32_t i = 1; i <= 100; ++i) queue.push(Time(1'000'003), {i});
    CHECK(queue.pop().number == 0);
    for (std::uint32_t i = 101; i <= 200; ++i) queue.push(Time(1'000'003), {i});
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 1; i <= 200; ++i) expected.push_back(i);
    CHECK(drain(queue) == expected);
  }

  TEST_CASE("the next time does not move the clock") {
    EventQueue<Numbered> queue;
    queue.push(Time(1000), {1});
    CHECK(queue.next_time() == Time(1000));
    CHECK(queue.now() == Time(0));
    queue.push(Time(10), {2});
    CHECK(queue.next_time() == Time(10));
    CHECK(drain(queue) == std::vector<std::uint32_t>{2, 1});
  }

  TEST_CASE("an instant is popped as a whole") {
    EventQueue<Numbered> queue;
    queue.push(Time(7), {1});
    queue.push(Time(9), {2});
    queue.push(Time(7), {3});
    std::vector<Numbered> records;
    queue.pop_instant(records);
    REQUIRE(records.size() == 2);
    CHECK(records[0].number == 1);
    CHECK(records[1].number == 3);
    CHECK_FALSE(queue.has_record_now());
    queue.pop_instant(records);
    REQUIRE(records.size() == 1);
    CHECK(records[0].number == 2);
    CHECK(queue.empty());
  }

  TEST_CASE("a record before the current time is refused") {
    EventQueue<Numbered> queue;
    queue.push(Time(100), {1});
    queue.pop();
    CHECK_THROWS_AS(queue.push(Time(99), {2}), std::logic_error);
    CHECK_NOTHROW(queue.push(Time(100), {3}));
    CHECK_THROWS_AS(queue.push(Time(-1), {2}), std::logic_error);
  }

  TEST_CASE("an empty queue has neither a next time nor a next record") {
    EventQueue<Numbered> queue;
    CHECK_THROWS_AS(static_cast<void>(queue.next_time()), std::logic_error);
    CHECK_THROWS_AS(queue.pop(), std::logic_error);
  }

  TEST_CASE("times at both ends of the clock are kept apart") {
    EventQueue<Numbered> queue;
    queue.push(Time(INT64_MAX), {4});
    queue.push(Time(0), {1});
    queue.push(Time(INT64_MAX - 1), {3});
    queue.push(Time(1), {2});
    CHECK(drain(queue) == std::vector<std::uint32_t>{1, 2, 3, 4});
  }

  TEST_CASE("random pushes and pops agree with a stable sort") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      std::mt19937_64 random(seed);
      const std::uint64_t spread = std::uint64_t{1} << (random() % 40);
      EventQueue<Numbered> queue;
      std::vector<std::pair<Time, std::uint32_t>> pending;
      std::uint32_t number = 0;
      bool agrees = true;
      for (int step = 0; step < 500; ++step) {
        if (pending.empty() || random() % 5 < 3) {
          const Time time(queue.now().picoseconds() + static_cast<std::int64_t>(random() % spread));
          queue.push(time, {number});
          pending.emplace_back(time, number++);
        } else {
          const auto next = std::ranges::min_element(pending);  // numbers rise: ties go to the first pushed
          agrees = agrees && queue.next_time() == next->first && queue.pop().number == next->second;
          agrees = agrees && queue.now() == next->first;
          pending.erase(next);
        }
      }
      std::ranges::sort(pending);
      for (const auto& [time, expected] : pending) {
        agrees = agrees && queue.next_time() == time && queue.pop().number == expected;
      }
      CHECK(agrees);
      CHECK(queue.empty());
    }
  }
}
