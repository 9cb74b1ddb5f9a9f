#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"
#include "units/time.hpp"

namespace gpuscale {

/// When a task ran, and what it waited for last.
struct TaskTimes {
  Time start;
  Time end;
  TaskId blocker = {};  ///< the task at whose end this one started: the last it required, or the one before it on
                        ///< its lane; invalid for a task that started at once
};

/// What a channel did during a run.
struct ChannelUse {
  Bytes carried;
  Seconds busy;  ///< time in which anything crossed it
};

/// What happened when a plan ran: times by task, use by channel.
struct Timeline {
  std::vector<TaskTimes> tasks;
  std::vector<ChannelUse> channels;
  Time end;
};

/// Time on the critical path by activity; sums to the timeline's end. Time that compute lost to
/// exchanges beside it is booked under exchange.
using CriticalSplit = std::array<Seconds, kActivityNames.size()>;

/// Walks back from the last task through what each waited for.
CriticalSplit critical_split(const Plan& plan, const Timeline& timeline);

/// A number that changes when any time of the run changes: guards against silent change.
std::uint64_t fingerprint(const Timeline& timeline);

}  // namespace gpuscale
