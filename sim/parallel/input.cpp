#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "collective/hops.hpp"
#include "parallel/step_builder.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// Time one node needs to prepare `samples`: its storage reads and its cores decode side by side.
Seconds preparation_time(const InputConfig& input, double samples) {
  Seconds time;
  if (input.storage) time = std::max(time, input.bytes_per_sample * samples / *input.storage);
  if (input.decode_per_core && input.cores > 0) {
    time = std::max(time, Seconds(samples / (*input.decode_per_core * input.cores)));
  }
  return time;
}

TaskId add_preparation(StepBuilder& step, Seconds duration, TaskId after) {
  if (duration.count() <= 0) return after;
  return step.plan.add(
      Work{.activity = Activity::input, .duration = duration, .label = step.plan.label("input pipeline")}, {after});
}

/// What is copied to a GPU of each sample: what the scenario says, or the model's input in the precision of
/// activations.
Bytes copied_per_sample(const StepBuilder& step) {
  const Bytes as_fp32 = step.work.input;
  return step.job.input->copied_per_sample.value_or(as_fp32 * (activation_size(step.job.precision) / Bytes(4)));
}

/// Bytes over channels, beside everything else.
struct Traffic {
  Bytes amount = {};
  std::uint32_t label = 0;
};

TaskId add_traffic(PlanBuilder& plan, const Traffic& traffic, Hops hops, TaskId ready) {
  if (traffic.amount.count() <= 0 || hops.loads.empty()) return ready;
  return plan.add(Transfer{.amount = traffic.amount,
                           .loads = std::move(hops.loads),
                           .cap = hops.cap,
                           .latency = hops.latency,
                           .activity = Activity::input,
                           .label = traffic.label},
                  {ready});
}

/// Samples that a rank gets in a step.
double samples_of(const StepBuilder& step, std::size_t rank) {
  const double of_copy = static_cast<double>(step.kinds[step.kind_of_rank[rank]].kind.samples);
  return of_copy / static_cast<double>(step.grid.replica());
}

/// The next batch of each GPU of a stage on its way there: read and written in host memory while it is prepared, and
/// copied by the GPU's copy engine over the links that exchanges use as well.
RankTasks add_copies(StepBuilder& step, int stage, const std::map<DeviceId, double>& samples, TaskId after) {
  const std::uint32_t copy = step.plan.label("copy of the batch");
  const std::uint32_t augmentation = step.plan.label("augmentation in host memory");
  const Bytes per_sample = copied_per_sample(step);
  return step.exchanges.add(
      step.plan, step.groups(GroupKind::itself, stage), "input",
      [&](PlanBuilder& plan, const RankGroup& rank, const RankTasks& members) {
        const Topology& topology = rank.topology();
        const DeviceId gpu = rank.ranks().front().gpu;
        const DeviceId memory = topology.host_memory(gpu);
        if (!memory.valid()) return members;
        const TaskId ready = members.front();
        Hops in_memory;
        const std::vector<ChannelId>& channels = topology.route(memory, gpu).channels;
        if (!channels.empty()) in_memory.loads = {{channels.front(), 1.0}};
        const double own = samples.at(gpu);
        const TaskId copied =
            add_traffic(plan, {per_sample * own, copy}, hop(topology, memory, gpu, Transport{}), ready);
        const TaskId augmented =
            add_traffic(plan, {step.job.input->ram_per_sample * own, augmentation}, std::move(in_memory), ready);
        return RankTasks{augmented == ready ? copied : plan.join(std::array{copied, augmented})};
      },
      RankTasks(step.roles.size(), after));
}

}  // namespace

TaskId add_input(StepBuilder& step, TaskId after) {
  if (!step.job.input) return {};
  const InputConfig& input = *step.job.input;
  const double all = static_cast<double>(step.batch.global);
  std::map<DeviceId, double> of_gpu;
  std::vector<double> of_nodes(static_cast<std::size_t>(step.spec.nodes), 0.0);
  for (std::size_t rank = 0; rank < step.cluster.ranks.size(); ++rank) {
    const DeviceId gpu = step.cluster.ranks[rank];
    of_gpu[gpu] = samples_of(step, rank);
    of_nodes[static_cast<std::size_t>(step.cluster.topology.device(gpu).node)] += of_gpu[gpu];
  }
  RankTasks ready;
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    const RankTasks copied = add_copies(step, stage, of_gpu, after);
    for (const std::size_t role : step.roles_of(stage)) ready.push_back(copied[role]);
  }
  for (const double of_node : of_nodes) ready.push_back(add_preparation(step, preparation_time(input, of_node), after));
  if (input.shared_storage)
    ready.push_back(add_preparation(step, input.bytes_per_sample * all / *input.shared_storage, after));
  return step.plan.join(ready);
}

}  // namespace gpuscale
