#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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

/// Time by activity; sums to the timeline's end.
using StepTimes = std::array<Seconds, kActivityNames.size()>;

/// Where the time went along the critical path, which leads back from the last task through what each waited
/// for. While an exchange or the host is what a GPU waits for, time in which that GPU, the one that computes
/// next on the path, still computes is compute. Time that compute loses to exchanges beside it is exchange.
StepTimes times_by_activity(const Plan& plan, const Timeline& timeline);

/// The same, and the exchange time of each label; what compute loses to exchanges beside it is under kSlowedCompute.
struct PathTimes {
  StepTimes activities{};
  std::map<std::string, Seconds> exchanges = {};
};
/// \param from, to if valid, only between the ends of these tasks, along the path that leads to `to`
PathTimes path_times(const Plan& plan, const Timeline& timeline, TaskId from = {}, TaskId to = {});

inline constexpr std::string_view kSlowedCompute = "compute slowed by exchanges";

/// Time in which any task of an activity runs.
Seconds time_with(const Plan& plan, const Timeline& timeline, Activity activity);

/// Compute of each lane, alone at full speed.
std::vector<Seconds> compute_of_lanes(const Plan& plan);

/// Compute of the lane that has most of it, alone at full speed: of a pipeline, its slowest stage without bubbles.
Seconds busiest_compute(const Plan& plan);

/// A number that changes when any time of the run changes: guards against silent change.
std::uint64_t fingerprint(const Timeline& timeline);

}  // namespace gpuscale
