#include "plan/plan.hpp"

#include <algorithm>

#include "units/check.hpp"

namespace gpuscale {

namespace {

/// How many copies the exchanges of a plan may be in all for any of them to be worked step by step. Where they meet, a
/// copy takes some 50 us to simulate: five seconds.
constexpr std::size_t kMostSteppedCopies = 100'000;

std::size_t copies_of(std::span<const SteppedTasks> exchanges) {
  std::size_t copies = 0;
  for (const SteppedTasks& exchange : exchanges) {
    for (const SteppedMove& move : exchange.steps->moves) copies += move.pattern->copies().size() * move.times;
  }
  return copies;
}

}  // namespace

std::span<const ChannelLoad> Plan::loads(TaskId id) const {
  return std::span(loads_).subspan(task(id).first_load, task(id).load_count);
}

std::span<const LaneId> Plan::slowed_lanes(TaskId id) const {
  return std::span(slowed_).subspan(task(id).first_slowed, task(id).slowed_count);
}

std::span<const TaskId> Plan::successors(TaskId id) const {
  const std::uint32_t first = first_successor_[id.index()];
  return std::span(successors_).subspan(first, first_successor_[id.index() + 1] - first);
}

LaneId PlanBuilder::add_lane(std::string name) {
  plan_.lane_names_.push_back(std::move(name));
  return LaneId(plan_.lane_names_.size() - 1);
}

std::uint32_t PlanBuilder::label(std::string_view text) {
  const auto [position, is_new] = label_numbers_.try_emplace(std::string(text), plan_.first_label_ + label_count());
  if (is_new) plan_.labels_.emplace_back(text);
  return position->second;
}

TaskId PlanBuilder::add_task(const Task& task, std::span<const TaskId> requires_tasks) {
  const TaskId id(plan_.tasks_.size());
  std::uint32_t count = 0;
  for (const TaskId required : requires_tasks) {
    if (!required.valid()) continue;  // nothing to wait for
    check(required < id, "a task requires only tasks added before it");
    edges_.push_back({required, id});
    ++count;
  }
  plan_.tasks_.push_back(task);
  plan_.requirement_counts_.push_back(count);
  return id;
}

TaskId PlanBuilder::add(const Work& work, std::span<const TaskId> requires_tasks) {
  check(work.duration.count() >= 0, "work takes no negative time");
  Task task;
  task.activity = work.activity;
  task.lane = work.lane;
  task.duration = work.duration;
  task.label = work.label;
  return add_task(task, requires_tasks);
}

TaskId PlanBuilder::add(const Transfer& transfer, std::span<const TaskId> requires_tasks) {
  check(transfer.amount.count() >= 0 && transfer.latency.count() >= 0, "a transfer has no negative size or latency");
  Task task;
  task.activity = transfer.activity;
  task.is_transfer = true;
  task.duration = transfer.latency;
  task.amount = transfer.amount;
  task.cap = transfer.cap;
  task.slowdown = transfer.slowdown;
  task.label = transfer.label;
  task.first_load = static_cast<std::uint32_t>(plan_.loads_.size());
  task.load_count = static_cast<std::uint32_t>(transfer.loads.size());
  task.first_slowed = static_cast<std::uint32_t>(plan_.slowed_.size());
  task.slowed_count = static_cast<std::uint32_t>(transfer.slowed_lanes.size());
  plan_.loads_.insert(plan_.loads_.end(), transfer.loads.begin(), transfer.loads.end());
  plan_.slowed_.insert(plan_.slowed_.end(), transfer.slowed_lanes.begin(), transfer.slowed_lanes.end());
  return add_task(task, requires_tasks);
}

TaskId PlanBuilder::add_again(TaskId like, std::span<const TaskId> requires_tasks) {
  const Task task = plan_.tasks_[like.index()];
  return add_task(task, requires_tasks);
}

void PlanBuilder::merge_channels(std::span<const ChannelId> stands_for) {
  plan_.stepped_.clear();
  std::map<std::uint32_t, std::uint32_t> merged;  // by first load: how many are left
  for (Task& task : plan_.tasks_) {
    if (task.load_count == 0) continue;
    const auto [position, is_new] = merged.try_emplace(task.first_load, task.load_count);
    if (is_new) {
      const std::span loads = std::span(plan_.loads_).subspan(task.first_load, task.load_count);
      for (ChannelLoad& load : loads) load.channel = stands_for[load.channel.index()];
      std::ranges::sort(loads, {}, &ChannelLoad::channel);
      const auto rest = std::ranges::unique(loads, {}, &ChannelLoad::channel);
      position->second = static_cast<std::uint32_t>(rest.begin() - loads.begin());
    }
    task.load_count = position->second;
  }
}

void PlanBuilder::add_steps(TaskId first, SteppedExchange steps) {
  using Moves = std::vector<std::uint32_t>;
  const auto insert = [](Moves& moves, const Moves& others) {
    for (const std::uint32_t move : others) {
      if (std::ranges::find(moves, move) == moves.end()) moves.push_back(move);
    }
  };
  constexpr std::uint32_t kNoMove = std::numeric_limits<std::uint32_t>::max();
  std::vector<Moves> behind(plan_.tasks_.size() - first.index());  // by task: the moves whose end it stands for
  std::vector<std::uint32_t> move_of(behind.size(), kNoMove);
  for (std::uint32_t move = 0; move < steps.moves.size(); ++move) {
    const SteppedMove& own = steps.moves[move];
    std::fill_n(move_of.begin() + own.first_task, own.task_count(), move);
    steps.tasks = own.first_task + own.task_count();
  }
  auto edge = std::ranges::lower_bound(edges_, first, {}, &Edge::to);
  for (std::size_t task = 0; task < steps.tasks; ++task) {
    const std::uint32_t move = move_of[task];
    Moves& own = move == kNoMove ? behind[task] : steps.moves[move].after;
    for (; edge != edges_.end() && edge->to.index() == first.index() + task; ++edge) {
      if (edge->from >= first) insert(own, behind[edge->from.index() - first.index()]);
    }
    if (move == kNoMove) continue;
    behind[task] = {move};
    std::erase(own, move);
  }
  add_steps({first, std::make_shared<const SteppedExchange>(std::move(steps))});
}

GateId PlanBuilder::add_gate(double credit) {
  check(credit > 0, "somebody can pass a gate");
  plan_.gates_.push_back(credit);
  return GateId(plan_.gates_.size() - 1);
}

TaskId PlanBuilder::add(const GatePass& pass, std::span<const TaskId> requires_tasks) {
  Task task;
  task.activity = Activity::wait;
  task.label = label(pass.returns ? "gate left" : "gate entered");
  task.pass = static_cast<std::uint32_t>(plan_.passes_.size());
  plan_.passes_.push_back(pass);
  return add_task(task, requires_tasks);
}

TaskId PlanBuilder::join(std::span<const TaskId> requires_tasks) {
  if (requires_tasks.size() == 1) return requires_tasks.front();
  return add(Work{.activity = Activity::wait, .label = label("join")}, requires_tasks);
}

Plan PlanBuilder::build() && {
  if (copies_of(plan_.stepped_) > kMostSteppedCopies) plan_.stepped_.clear();
  if (plan_.labels_.empty()) plan_.labels_.emplace_back();  // of tasks that were given none
  const std::size_t count = plan_.tasks_.size();
  plan_.first_successor_.assign(count + 1, 0);
  for (const Edge& edge : edges_) ++plan_.first_successor_[edge.from.index() + 1];
  for (std::size_t i = 0; i < count; ++i) plan_.first_successor_[i + 1] += plan_.first_successor_[i];
  plan_.successors_.resize(edges_.size());
  std::vector<std::uint32_t> next(plan_.first_successor_.begin(), plan_.first_successor_.end() - 1);
  for (const Edge& edge : edges_) plan_.successors_[next[edge.from.index()]++] = edge.to;
  return std::move(plan_);
}

}  // namespace gpuscale
