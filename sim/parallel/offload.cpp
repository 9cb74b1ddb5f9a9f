#include "parallel/offload.hpp"

#include <fmt/format.h>

#include "collective/hops.hpp"
#include "units/check.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

struct OffloadedUpdate {
  Bytes down;
  Bytes moved;  ///< in host memory
  Bytes up;
  std::uint32_t down_label;
  std::uint32_t update_label;
  std::uint32_t up_label;
};

TaskId add_traffic(PlanBuilder& plan, Bytes amount, const Hops& hops, std::uint32_t label, TaskId after) {
  return plan.add(
      Transfer{.amount = amount, .loads = hops.loads, .cap = hops.cap, .latency = hops.latency, .label = label},
      {after});
}

TaskId add_rank(PlanBuilder& plan, const RankGroup& rank, const OffloadedUpdate& update, TaskId ready) {
  const Topology& topology = rank.topology();
  const DeviceId gpu = rank.ranks().front().gpu;
  const DeviceId memory = topology.host_memory(gpu);
  check(memory.valid(), "every box with a GPU has a host memory");
  const TaskId down =
      add_traffic(plan, update.down, hop(topology, gpu, memory, rank.transport()), update.down_label, ready);
  Hops in_memory;
  in_memory.loads = {{topology.route(memory, gpu).channels.front(), 1.0}};
  const TaskId updated = add_traffic(plan, update.moved, in_memory, update.update_label, down);
  return add_traffic(plan, update.up, hop(topology, memory, gpu, rank.transport()), update.up_label, updated);
}

}  // namespace

void add_offloaded_update(StepBuilder& step, int stage, double parameters) {
  const Job& job = step.job;
  const Bytes weight = activation_size(job.precision);
  // What the update would move on the GPU, it moves in host memory; the copy there of the 16-bit weights as well.
  const OffloadedUpdate update{
      .down = gradient_number(job) * parameters,
      .moved = update_traffic(job.optimizer, job.precision, has_master_weights(job.precision)) * parameters,
      .up = weight * parameters,
      .down_label = step.plan.label("gradients to the host"),
      .update_label = step.plan.label("update on the host"),
      .up_label = step.plan.label("weights from the host")};
  const RankTasks done = step.exchanges.add(
      step.plan, step.groups(GroupKind::itself, stage), fmt::format("offload {} {}", stage, parameters),
      [&](PlanBuilder& plan, const RankGroup& rank, const RankTasks& members) {
        return RankTasks{add_rank(plan, rank, update, members.front())};
      },
      step.last());
  for (const std::size_t role : step.roles_of(stage)) step.roles[role].last = done[role];
  step.note_sent("offload", stage, update.down + update.up, update.down + update.up, 1.0);
}

}  // namespace gpuscale
