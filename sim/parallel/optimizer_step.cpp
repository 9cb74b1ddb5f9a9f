#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "hardware/kernel_time.hpp"
#include "parallel/offload.hpp"
#include "parallel/step_builder.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// What a rank of a stage updates.
struct Updated {
  std::int64_t tensors = 0;
  double parameters = 0;  ///< its share of them: of experts among those ranks that have the same
};

/// Of these layers. The update of a layer with measured times is part of them.
Updated updated_by(const StepBuilder& step, std::span<const std::size_t> layers) {
  const double share = step.job.parallel.shard.stage > 0 ? 1.0 / step.shard : 1.0;
  Updated updated;
  for (const std::size_t number : layers) {
    const LayerWork& layer = step.work.layers[number];
    if (layer.measured) continue;
    updated.tensors += static_cast<std::int64_t>(layer.parameters.size());
    updated.parameters += shared_out(parameter_count(layer), expert_count(layer), share, step.grid.expert);
  }
  return updated;
}

/// Of the host, to issue the update of one tensor. Each kernel of a written-out update is an operator.
Seconds host_update(const Job& job) {
  const HostCost& host = job.framework.host;
  const std::optional<WrittenOutUpdate> written = update_habit(job.framework, job.optimizer).written_out;
  if (!written || job.framework.fused_optimizer) return host.optimizer_tensor;
  return std::max(host.optimizer_tensor, host.forward_operator * static_cast<double>(written->kernels));
}

/// On the GPUs of a stage. \returns `now`, where nothing is updated
RankTasks update_on_gpus(StepBuilder& step, int stage, const Updated& updated, RankTasks now) {
  if (updated.tensors == 0) return now;
  const std::uint32_t label = step.plan.label(kUpdateLabel);
  for (const std::size_t role : step.roles_of(stage)) {
    const UpdateCost cost = update_cost(step, role, updated.tensors, updated.parameters);
    now[role] = add_layer_work(step, step.roles[role], cost.host, cost.compute, label, now[role]);
  }
  return now;
}

/// At the end of the step; split layers may have had theirs after each sub-batch.
void update(StepBuilder& step, int stage) {
  std::vector<std::size_t> layers = layers_of(step, stage);
  const ModelSplitConfig& split = step.job.parallel.model;
  if (split.degree > 1 && split.update_each)
    std::erase_if(layers, [&](std::size_t layer) { return layer >= step.undivided; });
  const Updated updated = updated_by(step, layers);
  if (updated.tensors > 0 && step.job.parallel.offload_optimizer)
    return add_offloaded_update(step, stage, updated.parameters);
  const RankTasks done = update_on_gpus(step, stage, updated, step.last());
  for (const std::size_t role : step.roles_of(stage)) step.roles[role].last = done[role];
}

/// Who updated a share gives it to the others. Parameters that stay shared out are gathered when they are needed.
void gather_updated(StepBuilder& step, int stage) {
  const int sharded = step.job.parallel.shard.stage;
  if (sharded == 0 || sharded == 3 || step.shard < 2) return;
  const Exchange exchange =
      step.exchange_of(parameters_of(step, stage) * activation_size(step.job.precision), "parameter", CodecKind::none);
  const double ranks = static_cast<double>(step.shard);
  step.note_sent("parameter", stage, exchange, share_sent(Collective::all_gather, ranks));
  const RankTasks done = step.collective(GroupKind::shard, stage, Collective::all_gather, sharing_algorithm(step.job),
                                         exchange, step.last());
  for (const std::size_t role : step.roles_of(stage)) step.roles[role].last = done[role];
}

}  // namespace

UpdateCost update_cost(const StepBuilder& step, std::size_t role, std::int64_t tensors, double parameters) {
  const Job& job = step.job;
  const StreamKernel kernel =
      optimizer_update(job.optimizer, static_cast<std::int64_t>(parameters), tensors, job.precision,
                       has_master_weights(job.precision), update_habit(job.framework, job.optimizer));
  const double launches = job.framework.fused_optimizer ? 1.0 : static_cast<double>(tensors);
  return {.host = host_update(job) * launches, .compute = stream_time(step.gpu(role), kernel) * job.kernel_scale()};
}

RankTasks add_split_update(StepBuilder& step, const RankTasks& now) {
  std::vector<std::size_t> layers = layers_of(step, 0);
  std::erase_if(layers, [&](std::size_t layer) { return layer < step.undivided; });
  return update_on_gpus(step, 0, updated_by(step, layers), now);
}

RankTasks add_layer_update(StepBuilder& step, int stage, std::size_t layer, const RankTasks& summed) {
  return update_on_gpus(step, stage, updated_by(step, std::array{layer}), summed);
}

void add_optimizer_step(StepBuilder& step) {
  const Job& job = step.job;
  if (job.forward_only || (updates_on_server(job) && !job.parallel.independent) || updates_on_owner(step)) return;
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    update(step, stage);
    gather_updated(step, stage);
  }
}

}  // namespace gpuscale
