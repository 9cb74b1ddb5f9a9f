/// \file
/// Events per second of the event queue, beside a binary heap of closures. One event is one push and
/// one pop, with a given number of events pending all the time.

#include <benchmark/benchmark.h>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "engine/event_queue.hpp"

namespace gpuscale {
namespace {

constexpr std::int64_t kSpread = 1'000'000'000;  // 1 ms

struct Wake {
  std::uint32_t kind;
  std::uint32_t task;
};

/// Delays drawn beforehand, so that drawing them is not measured.
class Delays {
 public:
  Delays() {
    std::mt19937_64 random(1);
    for (std::int64_t& delay : delays_) delay = 1 + static_cast<std::int64_t>(random() % kSpread);
  }
  std::int64_t next() { return delays_[next_++ % delays_.size()]; }

 private:
  std::vector<std::int64_t> delays_ = std::vector<std::int64_t>(1 << 16);
  std::size_t next_ = 0;
};

void radix_heap_of_records(benchmark::State& state) {
  Delays delays;
  EventQueue<Wake> queue;
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push(Time(delays.next()), {0, static_cast<std::uint32_t>(i)});
  for (auto _ : state) {
    const Wake wake = queue.pop();
    sum += wake.task;
    queue.push(Time(queue.now().picoseconds() + delays.next()), wake);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}

struct Closure {
  std::int64_t time;
  std::uint64_t number;
  std::function<void()> act;
  bool operator<(const Closure& other) const { return time != other.time ? time > other.time : number > other.number; }
};

void binary_heap_of_closures(benchmark::State& state) {
  Delays delays;
  std::priority_queue<Closure> queue;
  std::uint64_t sum = 0;
  std::uint64_t number = 0;
  std::int64_t now = 0;
  const auto push = [&](std::uint32_t kind, std::uint64_t task) {
    queue.push({now + delays.next(), number++, [&sum, kind, task] { sum += task + kind; }});
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) push(0, static_cast<std::uint64_t>(i));
  for (auto _ : state) {
    const Closure next = queue.top();
    queue.pop();
    now = next.time;
    next.act();
    push(0, number);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(radix_heap_of_records)->Arg(1'000)->Arg(100'000);
BENCHMARK(binary_heap_of_closures)->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace gpuscale

BENCHMARK_MAIN();
