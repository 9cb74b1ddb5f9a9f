#include "execution/timeline.hpp"

#include <algorithm>
#include <map>

namespace gpuscale {

namespace {

/// A duration becomes whole picoseconds where a task begins and ends.
constexpr Seconds kRounding(1e-12);

/// The task that ended last, the earliest added among equals.
TaskId last_task(const Timeline& timeline) {
  const auto last = std::ranges::max_element(timeline.tasks, {}, &TaskTimes::end);
  return TaskId(static_cast<std::size_t>(last - timeline.tasks.begin()));
}

/// From a task back to one that started at once, or that started at `begin` or before.
std::vector<TaskId> critical_path(const Timeline& timeline, TaskId end, Time begin) {
  std::vector<TaskId> path;
  for (TaskId id = end; id.valid(); id = timeline.tasks[id.index()].blocker) {
    path.push_back(id);
    if (timeline.tasks[id.index()].start <= begin) break;
  }
  return path;
}

/// The lane of the last compute on the path; invalid if nothing computes.
LaneId compute_lane(const Plan& plan, const std::vector<TaskId>& path) {
  for (const TaskId id : path) {
    if (plan.task(id).activity == Activity::compute && plan.task(id).lane.valid()) return plan.task(id).lane;
  }
  return {};
}

/// The compute tasks of a lane in the order in which they ran.
std::vector<TaskId> tasks_of_lane(const Plan& plan, const Timeline& timeline, LaneId lane) {
  std::vector<TaskId> tasks;
  if (!lane.valid()) return tasks;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan.task(TaskId(i));
    if (task.lane == lane && task.activity == Activity::compute) tasks.push_back(TaskId(i));
  }
  std::ranges::stable_sort(tasks, {}, [&timeline](TaskId id) { return timeline.tasks[id.index()].start; });
  return tasks;
}

std::vector<TaskId>::const_iterator first_ending_after(const Timeline& timeline, const std::vector<TaskId>& tasks,
                                                       Time time) {
  return std::ranges::upper_bound(tasks, time, {}, [&timeline](TaskId id) { return timeline.tasks[id.index()].end; });
}

/// Books a piece of a compute task: as compute what it would have taken alone, the rest as exchange.
void book_compute(PathTimes& times, const Task& task, const TaskTimes& span, Seconds piece) {
  const Seconds spent = span.end - span.start;
  const bool was_slowed = spent - task.duration > kRounding;
  const Seconds alone = was_slowed ? piece * (task.duration / spent) : piece;
  times.activities[static_cast<std::size_t>(Activity::compute)] += alone;
  if (!was_slowed) return;
  times.activities[static_cast<std::size_t>(Activity::exchange)] += piece - alone;
  times.exchanges[std::string(kSlowedCompute)] += piece - alone;
}

/// Books the compute of a lane during a span; returns the time of the span that is left.
Seconds book_beside(PathTimes& times, const Plan& plan, const Timeline& timeline, const std::vector<TaskId>& computing,
                    const TaskTimes& span) {
  Seconds waiting = span.end - span.start;
  for (auto beside = first_ending_after(timeline, computing, span.start); beside != computing.end(); ++beside) {
    const TaskTimes& work = timeline.tasks[beside->index()];
    if (work.start >= span.end) break;
    const Seconds together = std::min(work.end, span.end) - std::max(work.start, span.start);
    book_compute(times, plan.task(*beside), work, together);
    waiting -= together;
  }
  return waiting;
}

}  // namespace

StepTimes times_by_activity(const Plan& plan, const Timeline& timeline) {
  return path_times(plan, timeline).activities;
}

PathTimes path_times(const Plan& plan, const Timeline& timeline, TaskId from, TaskId to) {
  PathTimes times;
  if (timeline.tasks.empty()) return times;
  const Time begin = from.valid() ? timeline.tasks[from.index()].end : Time();
  const std::vector<TaskId> path = critical_path(timeline, to.valid() ? to : last_task(timeline), begin);
  std::map<LaneId, std::vector<TaskId>> computing;  // of lanes that wait on the path
  LaneId lane = compute_lane(plan, path);           // the one that computes next; the path leads back in time
  for (const TaskId id : path) {
    TaskTimes span = timeline.tasks[id.index()];
    const Task& task = plan.task(id);
    if (span.end <= begin && from.valid()) break;
    if (task.activity == Activity::compute) {
      book_compute(times, task, span, span.end - std::max(span.start, begin));
      if (task.lane.valid()) lane = task.lane;
      continue;
    }
    span.start = std::max(span.start, begin);
    const auto [found, is_new] = computing.try_emplace(lane);
    if (is_new) found->second = tasks_of_lane(plan, timeline, lane);
    const Seconds waited = book_beside(times, plan, timeline, found->second, span);
    times.activities[static_cast<std::size_t>(task.activity)] += waited;
    if (task.activity == Activity::exchange) times.exchanges[plan.label(id)] += waited;
  }
  return times;
}

Seconds time_with(const Plan& plan, const Timeline& timeline, Activity activity) {
  std::vector<TaskTimes> spans;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan.task(TaskId(i)).activity == activity) spans.push_back(timeline.tasks[i]);
  }
  std::ranges::sort(spans, {}, &TaskTimes::start);
  Seconds total;
  Time seen;
  for (const TaskTimes& span : spans) {
    if (span.end <= seen) continue;
    total += span.end - std::max(span.start, seen);
    seen = span.end;
  }
  return total;
}

std::vector<Seconds> compute_of_lanes(const Plan& plan) {
  std::vector<Seconds> lanes(plan.lane_count());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan.task(TaskId(i));
    if (task.activity == Activity::compute && task.lane.valid()) lanes[task.lane.index()] += task.duration;
  }
  return lanes;
}

Seconds busiest_compute(const Plan& plan) {
  const std::vector<Seconds> lanes = compute_of_lanes(plan);
  return lanes.empty() ? Seconds() : *std::ranges::max_element(lanes);
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
