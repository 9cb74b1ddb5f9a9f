#include <algorithm>

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

void add_preparation(StepBuilder& step, Seconds duration) {
  if (duration.count() <= 0) return;
  step.plan.add(Work{.activity = Activity::input, .duration = duration, .label = step.plan.label("input pipeline")});
}

/// What is copied to a GPU of each sample: what the scenario says, or the model's input in the precision of
/// activations.
Bytes copied_per_sample(const StepBuilder& step) {
  const Bytes as_fp32 = step.work.input;
  return step.job.input->copied_per_sample.value_or(as_fp32 * (activation_size(step.job.precision) / Bytes(4)));
}

/// Bytes over channels, from the beginning of the step and beside everything else.
void add_traffic(StepBuilder& step, Bytes amount, Hops hops, std::string_view label) {
  if (amount.count() <= 0 || hops.loads.empty()) return;
  step.plan.add(Transfer{.amount = amount,
                         .loads = std::move(hops.loads),
                         .cap = hops.cap,
                         .latency = hops.latency,
                         .activity = Activity::input,
                         .label = step.plan.label(label)});
}

/// The next batch of a GPU on its way there: read and written in host memory while it is prepared, and copied by the
/// GPU's copy engine over the links that exchanges use as well.
void add_copies(StepBuilder& step, DeviceId gpu, double samples) {
  const Topology& topology = step.cluster.topology;
  const DeviceId memory = topology.host_memory(gpu);
  if (!memory.valid()) return;
  Hops in_memory;
  const std::vector<ChannelId>& channels = topology.route(memory, gpu).channels;
  if (!channels.empty()) in_memory.loads = {{channels.front(), 1.0}};
  Hops way = hop(topology, memory, gpu, Transport{});
  add_traffic(step, copied_per_sample(step) * samples, std::move(way), "copy of the batch");
  add_traffic(step, step.job.input->ram_per_sample * samples, std::move(in_memory), "augmentation in host memory");
}

}  // namespace

void add_input(StepBuilder& step) {
  if (!step.job.input) return;
  const InputConfig& input = *step.job.input;
  const double all = static_cast<double>(step.batch.global);
  std::vector<double> samples(static_cast<std::size_t>(step.spec.nodes), 0.0);
  // Prepared and copied a step ahead: the next step cannot begin before this one's preparation and copies end.
  for (std::size_t rank = 0; rank < step.cluster.ranks.size(); ++rank) {
    const DeviceId gpu = step.cluster.ranks[rank];
    const double of_copy = static_cast<double>(step.kinds[step.kind_of_rank[rank]].kind.samples);
    const double of_rank = of_copy / static_cast<double>(step.grid.replica());
    samples[static_cast<std::size_t>(step.cluster.topology.device(gpu).node)] += of_rank;
    add_copies(step, gpu, of_rank);
  }
  for (const double of_node : samples) add_preparation(step, preparation_time(input, of_node));
  if (input.shared_storage) add_preparation(step, input.bytes_per_sample * all / *input.shared_storage);
}

}  // namespace gpuscale
