#pragma once

/// \file
/// A training step as a graph of tasks. A strategy adds tasks and "requires" edges; the executor runs
/// any plan and knows no strategy: overlap is the absence of an edge.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/stepped.hpp"
#include "units/channel_load.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// What time on the critical path is booked under.
enum class Activity { compute, host, exchange, input, wait };

inline constexpr std::array<std::string_view, 5> kActivityNames = {"compute", "host", "exchange", "input", "wait"};

constexpr std::string_view name(Activity activity) { return kActivityNames[static_cast<std::size_t>(activity)]; }

/// Work for a lane: it occupies the lane for its duration, longer while exchanges slow the lane.
struct Work {
  Activity activity = Activity::compute;
  LaneId lane = {};  ///< invalid: a delay that occupies nothing
  Seconds duration = {};
  std::uint32_t label = 0;
};

/// Bytes that move over channels at one common pace.
struct Transfer {
  Bytes amount = {};
  std::vector<ChannelLoad> loads = {};
  BytesPerSecond cap{std::numeric_limits<double>::infinity()};
  Seconds latency = {};                   ///< before the first byte moves
  std::vector<LaneId> slowed_lanes = {};  ///< lanes that lose speed while it moves
  double slowdown = 0.0;                  ///< fraction of their speed they lose, 0..1
  Activity activity = Activity::exchange;
  std::uint32_t label = 0;
};

/// A door through which tasks pass while there is credit; of those that wait the most urgent goes first.
using GateId = Id<struct GateTag>;

/// What a task does at a gate: it takes credit before it begins, or gives it back when it ends. The last that enters
/// may take more than is left.
struct GatePass {
  GateId gate = {};  ///< invalid: the task passes none
  double credit = 0.0;
  int urgency = 0;  ///< of those that wait, lower ones go first; equal ones in the order in which they came
  bool returns = false;
};

/// A task as stored: spans point into the plan's own arrays.
struct Task {
  Activity activity = Activity::compute;
  bool is_transfer = false;
  LaneId lane;
  Seconds duration = {};  ///< of work; the latency of a transfer
  Bytes amount = {};
  BytesPerSecond cap = {};
  double slowdown = 0.0;
  std::uint32_t label = 0;
  std::uint32_t first_load = 0;
  std::uint32_t load_count = 0;
  std::uint32_t first_slowed = 0;
  std::uint32_t slowed_count = 0;
  std::uint32_t pass = kNoPass;  ///< of the plan's GatePass

  static constexpr std::uint32_t kNoPass = std::numeric_limits<std::uint32_t>::max();
};

/// Tasks of a plan that are an exchange in coupled form, and the same step by step.
struct SteppedTasks {
  TaskId first = {};
  std::shared_ptr<const SteppedExchange> steps = {};
};

/// A finished plan: acyclic, every id in range. Made by PlanBuilder.
class Plan {
 public:
  [[nodiscard]] std::size_t size() const { return tasks_.size(); }
  [[nodiscard]] const Task& task(TaskId id) const { return tasks_[id.index()]; }
  [[nodiscard]] std::span<const ChannelLoad> loads(TaskId id) const;
  [[nodiscard]] std::span<const LaneId> slowed_lanes(TaskId id) const;
  [[nodiscard]] std::span<const TaskId> successors(TaskId id) const;
  [[nodiscard]] std::uint32_t requirement_count(TaskId id) const { return requirement_counts_[id.index()]; }
  /// \pre the label is of this plan: see PlanBuilder::number_labels_from()
  [[nodiscard]] const std::string& label(TaskId id) const { return labels_[task(id).label - first_label_]; }
  [[nodiscard]] std::uint32_t first_label() const { return first_label_; }
  /// What the task does at a gate. \pre it passes one
  [[nodiscard]] const GatePass& gate_pass(TaskId id) const { return passes_[task(id).pass]; }
  /// By gate, its credit.
  [[nodiscard]] std::span<const double> gates() const { return gates_; }
  /// Exchanges that can be worked step by step, in the order of their tasks.
  [[nodiscard]] std::span<const SteppedTasks> stepped() const { return stepped_; }
  [[nodiscard]] std::size_t lane_count() const { return lane_names_.size(); }
  [[nodiscard]] const std::string& lane_name(LaneId id) const { return lane_names_[id.index()]; }

 private:
  friend class PlanBuilder;
  std::vector<Task> tasks_ = {};
  std::vector<ChannelLoad> loads_ = {};
  std::vector<LaneId> slowed_ = {};
  std::vector<GatePass> passes_ = {};
  std::vector<double> gates_ = {};
  std::vector<SteppedTasks> stepped_ = {};
  std::vector<std::uint32_t> requirement_counts_ = {};
  std::vector<std::uint32_t> first_successor_ = {};
  std::vector<TaskId> successors_ = {};
  std::vector<std::string> labels_ = {};
  std::uint32_t first_label_ = 0;  ///< number of labels_[0]
  std::vector<std::string> lane_names_ = {};
};

/// Adds lanes, tasks and edges. A task may only require tasks added before it, so every plan is acyclic.
class PlanBuilder {
 public:
  LaneId add_lane(std::string name);
  /// A text for tasks; the same text gives the same number.
  std::uint32_t label(std::string_view text);

  TaskId add(const Work& work, std::span<const TaskId> requires_tasks = {});
  TaskId add(const Transfer& transfer, std::span<const TaskId> requires_tasks = {});
  /// The same task once more, with requirements of its own; a transfer shares the loads of the first.
  TaskId add_again(TaskId like, std::span<const TaskId> requires_tasks);
  /// A gate with so much credit. \pre more than nothing
  GateId add_gate(double credit);
  /// A task that takes no time: done once it may enter, or once what it requires has ended and credit is given back.
  TaskId add(const GatePass& pass, std::span<const TaskId> requires_tasks);
  /// A task that takes no time: done when all it requires are.
  TaskId join(std::span<const TaskId> requires_tasks);

  /// Says what the latest tasks are step by step; which moves follow which is seen from what their tasks require.
  void add_steps(TaskId first, SteppedExchange steps);
  /// Says that tasks are the same step by step as others that were added before. \pre they require each other alike
  void add_steps(const SteppedTasks& tasks) { plan_.stepped_.push_back(tasks); }
  /// Whether steps are of any use: not where one task stands for those of many ranks.
  [[nodiscard]] bool keeps_steps() const { return keeps_steps_; }
  void keep_no_steps() { keeps_steps_ = false; }

  TaskId add(const Work& work, std::initializer_list<TaskId> requires_tasks) {
    return add(work, std::span<const TaskId>(requires_tasks.begin(), requires_tasks.size()));
  }
  TaskId add(const Transfer& transfer, std::initializer_list<TaskId> requires_tasks) {
    return add(transfer, std::span<const TaskId>(requires_tasks.begin(), requires_tasks.size()));
  }

  [[nodiscard]] std::size_t size() const { return plan_.tasks_.size(); }

  [[nodiscard]] std::uint32_t label_count() const { return static_cast<std::uint32_t>(plan_.labels_.size()); }
  /// Leaves the first numbers to the labels of another plan, so that tasks can be carried over to it.
  void number_labels_from(std::uint32_t first) { plan_.first_label_ = first; }
  /// Replaces every channel by the one that stands for it; loads of one task on the same one, which are
  /// alike, become one. `stands_for` has an entry for each channel of the topology.
  void merge_channels(std::span<const ChannelId> stands_for);

  Plan build() &&;

 private:
  TaskId add_task(const Task& task, std::span<const TaskId> requires_tasks);

  struct Edge {
    TaskId from;
    TaskId to;
  };
  Plan plan_;
  std::vector<Edge> edges_ = {};  ///< by the task they lead to
  bool keeps_steps_ = true;
  std::map<std::string, std::uint32_t> label_numbers_;
};

}  // namespace gpuscale
