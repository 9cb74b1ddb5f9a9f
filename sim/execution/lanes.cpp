#include "execution/lanes.hpp"

#include <algorithm>

#include "units/check.hpp"

namespace gpuscale {

Lanes::Lanes(const Plan& plan)
    : plan_(plan),
      lanes_(plan.lane_count()),
      next_waiting_(plan.size()),
      ends_(plan.size()),
      generations_(plan.size(), 0) {}

bool Lanes::enqueue(TaskId id) {
  const LaneId lane_id = plan_.task(id).lane;
  if (!lane_id.valid()) return true;
  Lane& lane = lanes_[lane_id.index()];
  if (!lane.running.valid()) {
    lane.running = id;
    return true;
  }
  if (lane.last_waiting.valid()) {
    next_waiting_[lane.last_waiting.index()] = id;
  } else {
    lane.first_waiting = id;
  }
  lane.last_waiting = id;
  return false;
}

Time Lanes::begin(TaskId id, Time now) {
  const Task& task = plan_.task(id);
  if (!task.lane.valid()) return ends_[id.index()] = now.after(task.duration);
  Lane& lane = lanes_[task.lane.index()];
  check(lane.running == id, "a lane runs the task that begins");
  lane.remaining = task.duration.count();
  lane.since = now;
  return ends_[id.index()] = expected_end(lane);
}

TaskId Lanes::finish(TaskId id) {
  const LaneId lane_id = plan_.task(id).lane;
  if (!lane_id.valid()) return {};
  Lane& lane = lanes_[lane_id.index()];
  const TaskId next = lane.first_waiting;
  lane.running = next;
  if (next.valid()) {
    lane.first_waiting = next_waiting_[next.index()];
    if (!lane.first_waiting.valid()) lane.last_waiting = {};
  }
  return next;
}

TaskId Lanes::change_slowdown(LaneId lane_id, double slowdown, int direction, Time now) {
  Lane& lane = lanes_[lane_id.index()];
  if (direction > 0) {
    lane.slowdowns.push_back(slowdown);
  } else {
    lane.slowdowns.erase(std::ranges::find(lane.slowdowns, slowdown));
  }
  const double strongest = lane.slowdowns.empty() ? 0.0 : *std::ranges::max_element(lane.slowdowns);
  const double speed = 1.0 - strongest;
  if (speed == lane.speed) return {};
  if (lane.running.valid()) {
    lane.remaining = std::max(0.0, lane.remaining - (now - lane.since).count() * lane.speed);
    lane.since = now;
  }
  lane.speed = speed;
  if (!lane.running.valid()) return {};
  ends_[lane.running.index()] = expected_end(lane);
  ++generations_[lane.running.index()];
  return lane.running;
}

Time Lanes::expected_end(const Lane& lane) const { return lane.since.after(Seconds(lane.remaining / lane.speed)); }

}  // namespace gpuscale
