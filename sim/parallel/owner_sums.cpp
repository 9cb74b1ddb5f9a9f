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
      reads_later_(updates_on_owner(step) && !by_priority_) {
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
    const RankTasks ends = reads_later_ ? RankTasks(members.size(), updated)
                                        : add_broadcast_from(step_.plan, group, owner, exchange, updated, doors);
    for (std::size_t i = 0; i < members.size(); ++i) done[members[i]] = ends[i];
  }
  if (!reads_later_) return done;
  const auto [held, is_new] = held_.try_emplace({{kind, stage}, bucket.owner}, exchange);
  if (!is_new) {
    held->second.size += exchange.size;
    held->second.values += exchange.values;
  }
  return done;
}

RankTasks OwnerSums::add_reads(const RankTasks& ready) {
  if (held_.empty()) return ready;
  const TaskId updated = step_.plan.join(ready);
  RankTasks done = ready;
  for (const auto& [where, exchange] : held_) {
    const auto& [of, owner_place] = where;
    for (const auto& [members, group] : groups(of.first, of.second)) {
      const std::vector<GateId> gates = doors_of(step_, members);
      const RankTasks read =
          add_broadcast_from(step_.plan, group, owner_place % members.size(), exchange, updated, {.gates = gates});
      for (std::size_t i = 0; i < members.size(); ++i)
        done[members[i]] = step_.plan.join(std::array{done[members[i]], read[i]});
    }
  }
  return done;
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
