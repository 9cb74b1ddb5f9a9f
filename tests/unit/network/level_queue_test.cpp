#include "network/level_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <vector>

#include "network/level_heap.hpp"

using namespace gpuscale;

TEST_SUITE("network") {
  TEST_CASE("a level queue gives its numbers in the order of their rates") {
    LevelQueue queue;
    queue.push(BytesPerSecond(3e9), 3);
    queue.push(BytesPerSecond(0.5), 1);
    queue.push(BytesPerSecond(2e9), 2);
    queue.push(BytesPerSecond(), 0);
    const auto keep = [](LevelQueue::Entry&) { return true; };
    for (std::uint32_t expected = 0; expected < 4; ++expected) {
      REQUIRE(queue.advance(keep));
      CHECK(queue.top().number == expected);
      queue.pop();
    }
    CHECK_FALSE(queue.advance(keep));
  }

  TEST_CASE("a rate below the level counts as the level") {
    LevelQueue queue;
    queue.push(BytesPerSecond(5), 1);
    REQUIRE(queue.advance([](LevelQueue::Entry&) { return true; }));
    CHECK(queue.push(BytesPerSecond(4), 2) == BytesPerSecond(5));
    queue.clear();
    CHECK(queue.push(BytesPerSecond(4), 2) == BytesPerSecond(4));
  }

  TEST_CASE("a level queue keeps the order when updates raise rates and drop entries") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      std::mt19937_64 random(seed);
      LevelQueue queue;
      std::vector<double> now(300);  // the up-to-date rates; negative: dropped
      for (std::uint32_t i = 0; i < now.size(); ++i) {
        now[i] = static_cast<double>(random() % 1000);
        queue.push(BytesPerSecond(now[i]), i);
        if (random() % 3 == 0) now[i] += static_cast<double>(random() % 2000);
        if (random() % 5 == 0) now[i] = -1.0;
      }
      const auto update = [&](LevelQueue::Entry& entry) {
        entry.level = BytesPerSecond(std::max(now[entry.number], entry.level.count()));
        return now[entry.number] >= 0.0;
      };
      std::vector<double> seen;
      while (queue.advance(update)) {
        LevelQueue::Entry entry = queue.top();
        const BytesPerSecond level = entry.level;
        queue.pop();
        if (!update(entry)) continue;
        if (entry.level > level) {
          queue.push(entry.level, entry.number);
        } else {
          seen.push_back(level.count());
        }
      }
      std::erase_if(now, [](double rate) { return rate < 0.0; });
      std::ranges::sort(now);
      CHECK(seen == now);
    }
  }

  TEST_CASE("a level heap gives its numbers in the order of their rates") {
    std::mt19937_64 random(1);
    LevelHeap heap;
    std::vector<double> expected;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      expected.push_back(static_cast<double>(random() % 500));
      heap.push({BytesPerSecond(expected.back()), i});
    }
    std::ranges::sort(expected);
    std::vector<double> seen;
    for (; !heap.empty(); heap.pop()) seen.push_back(heap.top().level.count());
    CHECK(seen == expected);
  }
}
