#include "parallel/owner_sums.hpp"

#include <array>
#include <cstdint>

#include "collective/all_reduce.hpp"

namespace gpuscale {

namespace {

RankTasks of_members(const RankTasks& tasks, const Members& members) {
  RankTasks own;
  for (const std::size_t rank : members) own.push_back(tasks[rank]);
  return own;
}

/// The doors of the members. \returns them in the order of the group
std::vector<GateId> doors_of(const StepBuilder& step, const Members& members) {
  std::vector<GateId> doors;
  for (const std::size_t rank : members) doors.push_back(step.copy_doors[rank]);
  return doors;
}

}  // namespace

OwnerSums::OwnerSums(StepBuilder& step)
    : step_(step),
      by_priority_(schedule_in_force(step.job) == ExchangeSchedule::priority),
      reads_when_needed_(reads_when_needed(step)) {
  while (step.copy_doors.size() < step.roles.size()) step.copy_doors.push_back(step.plan.add_gate(1.0));
}

RankTasks OwnerSums::add(const Bucket& bucket, GroupKind kind, int stage, const Exchange& exchange,
                         const RankTasks& ready) {
  RankTasks done = ready;
  for (const auto& [members, group] : groups(kind, stage)) {
    const std::size_t owner = bucket.owner % members.size();
    const std::vector<GateId> gates = doors_of(step_, members);
    const CopyDoors doors{.gates = gates, .urgency = by_priority_ ? static_cast<int>(bucket.last_layer) : 0};
    const TaskId summed = add_sum_at(step_.plan, group, owner, exchange, of_members(ready, members), doors);
    const TaskId updated = add_update(members[owner], bucket.values, summed);
    const RankTasks ends = reads_when_needed_ ? RankTasks(members.size(), updated)
                                              : add_broadcast_from(step_.plan, group, owner, exchange, updated, doors);
    for (std::size_t i = 0; i < members.size(); ++i) done[members[i]] = ends[i];
  }
  if (reads_when_needed_) reads_.push_back({.bucket = bucket, .kind = kind, .stage = stage, .exchange = exchange});
  return done;
}

void OwnerSums::add_reads(const RankTasks& updated) {
  if (!reads_when_needed_) return;
  step_.weights_ready.assign(step_.work.layers.size(), RankTasks(step_.roles.size()));
  const TaskId all_updated = step_.plan.join(updated);
  for (const Read& read : reads_) {
    const std::size_t layer = read.bucket.last_layer;
    for (const auto& [members, group] : groups(read.kind, read.stage)) {
      const std::vector<GateId> gates = doors_of(step_, members);
      const CopyDoors doors{.gates = gates, .urgency = static_cast<int>(layer)};
      const RankTasks there =
          add_broadcast_from(step_.plan, group, read.bucket.owner % members.size(), read.exchange, all_updated, doors);
      for (std::size_t i = 0; i < members.size(); ++i) {
        TaskId& ready = step_.weights_ready[layer][members[i]];
        ready = step_.plan.join(std::array{ready, there[i]});
      }
    }
  }
}

const OwnerSums::Groups& OwnerSums::groups(GroupKind kind, int stage) {
  const auto found = groups_.find({kind, stage});
  return found != groups_.end()
             ? found->second
             : groups_.emplace(std::pair(kind, stage), step_.unfolded_groups(kind, stage)).first->second;
}

/// Where the owner updates, once a tensor is summed.
TaskId OwnerSums::add_update(std::size_t rank, double parameters, TaskId summed) {
  if (!updates_on_owner(step_)) return summed;
  const UpdateCost cost = update_cost(step_, rank, 1, parameters);
  return add_layer_work(step_, step_.roles[rank], cost.host, cost.compute, step_.plan.label(kUpdateLabel), summed);
}

}  // namespace gpuscale
