#include "hardware/kernel_time.hpp"
#include "parallel/step_builder.hpp"

namespace gpuscale {

void add_optimizer_step(StepBuilder& step) {
  const Job& job = step.job;
  if (updates_on_server(job) && !job.parallel.independent) return;
  std::int64_t tensors = 0;
  for (const LayerWork& layer : step.work.layers) tensors += static_cast<std::int64_t>(layer.parameters.size());
  if (tensors == 0) return;
  const StreamKernel kernel =
      optimizer_update(job.optimizer, static_cast<std::int64_t>(parameter_count(step.work)), tensors, job.precision,
                       has_master_weights(job.precision), job.framework.fused_optimizer);
  const double launches = job.framework.fused_optimizer ? 1.0 : static_cast<double>(tensors);
  const Seconds compute = stream_time(step.spec.gpu, kernel) * job.compute_scale;
  const std::uint32_t label = step.plan.label("optimizer");
  for (Rank& rank : step.ranks) {
    add_layer_work(step, rank, job.framework.host.optimizer_tensor * launches, compute, label);
  }
}

}  // namespace gpuscale
