#include "execution/timeline.hpp"

#include <algorithm>

namespace gpuscale {

namespace {

/// A duration becomes whole picoseconds where a task begins and ends.
constexpr Seconds kRounding(1e-12);

/// The task that ended last, the earliest added among equals.
TaskId last_task(const Timeline& timeline) {
  const auto last = std::ranges::max_element(timeline.tasks, {}, &TaskTimes::end);
  return TaskId(static_cast<std::size_t>(last - timeline.tasks.begin()));
}

}  // namespace

CriticalSplit critical_split(const Plan& plan, const Timeline& timeline) {
  CriticalSplit split{};
  if (timeline.tasks.empty()) return split;
  const auto booked = [&split](Activity activity) -> Seconds& { return split[static_cast<std::size_t>(activity)]; };
  for (TaskId id = last_task(timeline); id.valid(); id = timeline.tasks[id.index()].blocker) {
    const TaskTimes& times = timeline.tasks[id.index()];
    const Task& task = plan.task(id);
    const Seconds spent = times.end - times.start;
    const bool was_slowed = task.activity == Activity::compute && spent - task.duration > kRounding;
    booked(task.activity) += was_slowed ? task.duration : spent;
    if (was_slowed) booked(Activity::exchange) += spent - task.duration;
  }
  return split;
}

std::uint64_t fingerprint(const Timeline& timeline) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a over 64-bit words
  const auto mix = [&hash](std::int64_t value) {
    hash ^= static_cast<std::uint64_t>(value);
    hash *= 1099511628211ULL;
  };
  for (const TaskTimes& times : timeline.tasks) {
    mix(times.start.picoseconds());
    mix(times.end.picoseconds());
  }
  return hash;
}

}  // namespace gpuscale
