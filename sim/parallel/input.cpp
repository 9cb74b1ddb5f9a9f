#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <ranges>
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
  const std::optional<InputConfig>& input = step.job.input;
  const Bytes as_computed = step.work.input * (activation_size(step.job.precision) / Bytes(4));
  return input && input->copied_per_sample ? *input->copied_per_sample : as_computed;
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

/// Samples by GPU and by node.
struct Samples {
  std::map<DeviceId, double> of_gpu = {};
  std::vector<double> of_nodes = {};
};

Samples samples_of_all(const StepBuilder& step) {
  Samples samples;
  samples.of_nodes.resize(static_cast<std::size_t>(step.spec.nodes), 0.0);
  for (std::size_t rank = 0; rank < step.cluster.ranks.size(); ++rank) {
    const DeviceId gpu = step.cluster.ranks[rank];
    samples.of_gpu[gpu] = samples_of(step, rank);
    samples.of_nodes[static_cast<std::size_t>(step.cluster.topology.device(gpu).node)] += samples.of_gpu[gpu];
  }
  return samples;
}

/// The next batch of each GPU of a stage on its way there: read and written in host memory while it is prepared, and
/// copied by the GPU's copy engine over the links that exchanges use as well.
RankTasks add_copies(StepBuilder& step, int stage, const std::map<DeviceId, double>& samples, TaskId after) {
  const std::uint32_t copy = step.plan.label("copy of the batch");
  const std::uint32_t augmentation = step.plan.label("augmentation in host memory");
  const Bytes per_sample = copied_per_sample(step);
  const Bytes in_memory_per_sample = step.job.input ? step.job.input->ram_per_sample : Bytes();
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
            add_traffic(plan, {in_memory_per_sample * own, augmentation}, std::move(in_memory), ready);
        return RankTasks{augmented == ready ? copied : plan.join(std::array{copied, augmented})};
      },
      RankTasks(step.roles.size(), after));
}

}  // namespace

TaskId add_input(StepBuilder& step, TaskId after) {
  if (!step.job.input) return {};
  const InputConfig& input = *step.job.input;
  const double all = static_cast<double>(step.batch.global);
  const Samples samples = samples_of_all(step);
  RankTasks ready;
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    const RankTasks copied = add_copies(step, stage, samples.of_gpu, after);
    for (const std::size_t role : step.roles_of(stage)) ready.push_back(copied[role]);
  }
  for (const double of_node : samples.of_nodes)
    ready.push_back(add_preparation(step, preparation_time(input, of_node), after));
  if (input.shared_storage)
    ready.push_back(add_preparation(step, input.bytes_per_sample * all / *input.shared_storage, after));
  return step.plan.join(ready);
}

RankTasks add_fed_samples(StepBuilder& step, TaskId after) {
  const Samples samples = samples_of_all(step);
  // One interpreter feeds the GPUs of a box; jobs of their own have one each.
  const double most = step.job.parallel.independent ? std::ranges::max(samples.of_gpu | std::views::values)
                                                    : std::ranges::max(samples.of_nodes);
  const TaskId handed_over = add_preparation(step, copied_per_sample(step) * most / *step.job.framework.feed, after);
  RankTasks fed(step.roles.size());
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    const RankTasks copied = add_copies(step, stage, samples.of_gpu, handed_over);
    for (const std::size_t role : step.roles_of(stage)) fed[role] = copied[role];
  }
  return fed;
}

}  // namespace gpuscale
