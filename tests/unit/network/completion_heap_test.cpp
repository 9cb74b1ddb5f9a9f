#include "network/completion_heap.hpp"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <vector>

using namespace gpuscale;

TEST_SUITE("network") {
  TEST_CASE("an empty completion heap never completes") {
    CompletionHeap heap;
    CHECK(heap.next() == kNever);
    std::vector<std::uint32_t> flows{1};
    heap.take_due(Time(1), flows);
    CHECK(flows.empty());
  }

  TEST_CASE("a completion can move both ways") {
    CompletionHeap heap;
    heap.set(0, Time(10));
    heap.set(1, Time(20));
    heap.set(0, Time(30));
    heap.refresh();
    CHECK(heap.next() == Time(20));
    heap.set(0, Time(5));
    heap.refresh();
    CHECK(heap.next() == Time(5));
    CHECK(heap.size() == 2);
  }

  TEST_CASE("a completion heap agrees with a sorted list on random changes") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      std::mt19937_64 random(seed);
      CompletionHeap heap;
      std::map<std::uint32_t, Time> expected;
      std::vector<std::uint32_t> flows;
      bool agrees = true;
      for (int step = 0; step < 300; ++step) {
        for (std::uint64_t i = random() % 20; i > 0; --i) {
          const auto flow = static_cast<std::uint32_t>(random() % 60);
          const Time due(step * 10 + static_cast<std::int64_t>(random() % 100));
          heap.set(flow, due);
          expected[flow] = due;
        }
        heap.refresh();
        Time earliest = kNever;
        for (const auto& [flow, due] : expected) earliest = std::min(earliest, due);
        agrees = agrees && heap.next() == earliest && heap.size() == expected.size();
        heap.take_due(Time(step * 10), flows);
        std::ranges::sort(flows);
        std::vector<std::uint32_t> due_now;
        std::erase_if(expected, [&](const auto& entry) {
          if (entry.second > Time(step * 10)) return false;
          due_now.push_back(entry.first);
          return true;
        });
        agrees = agrees && flows == due_now;
      }
      CHECK(agrees);
    }
  }

  TEST_CASE("room made for many flows changes nothing") {
    CompletionHeap heap;
    heap.set(3, Time(30));
    heap.expect(1000, 2000);
    CHECK(heap.size() == 1);
    CHECK(heap.next() == Time(30));
    heap.set(1999, Time(20));
    heap.refresh();
    CHECK(heap.next() == Time(20));
  }
}
