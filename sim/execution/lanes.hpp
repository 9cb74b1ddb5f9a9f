#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "units/id.hpp"
#include "units/time.hpp"

namespace gpuscale {

/// The lanes of a plan while it runs: who works, who waits in which order, and how fast. A lane that
/// exchanges slow down works at the speed the strongest of them leaves it.
class Lanes {
 public:
  explicit Lanes(const Plan& plan);

  /// A task is ready. True if it may begin now: its lane is free, or it needs none.
  bool enqueue(TaskId id);
  /// Begins a task that enqueue() or finish() handed out; returns when it will end at the present speed.
  Time begin(TaskId id, Time now);
  /// Ends the running task; returns the next in the lane's queue, if any.
  TaskId finish(TaskId id);

  /// One exchange more (direction 1) or less (-1) slows the lane. Returns the running task if its end moved.
  TaskId change_slowdown(LaneId lane, double slowdown, int direction, Time now);

  [[nodiscard]] Time end_of(TaskId id) const { return ends_[id.index()]; }
  /// Grows whenever the end of the task moves, so that older announcements can be told apart.
  [[nodiscard]] std::uint32_t generation(TaskId id) const { return generations_[id.index()]; }

 private:
  struct Lane {
    TaskId running = {};
    TaskId first_waiting = {};
    TaskId last_waiting = {};
    double speed = 1.0;
    double remaining = 0.0;  ///< seconds of work at full speed, at `since`
    Time since;
    std::vector<double> slowdowns;  ///< of the exchanges under way
  };

  [[nodiscard]] Time expected_end(const Lane& lane) const;

  const Plan& plan_;
  std::vector<Lane> lanes_;
  std::vector<TaskId> next_waiting_;
  std::vector<Time> ends_;
  std::vector<std::uint32_t> generations_;
};

}  // namespace gpuscale
