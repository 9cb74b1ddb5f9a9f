#include <algorithm>

#include "parallel/step_builder.hpp"

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

}  // namespace

void add_input(StepBuilder& step) {
  if (!step.job.input) return;
  const double per_rank = static_cast<double>(step.batch.global) / static_cast<double>(step.ranks.size());
  std::vector<double> samples(static_cast<std::size_t>(step.spec.nodes), 0.0);
  for (const Rank& rank : step.ranks) {
    samples[static_cast<std::size_t>(step.cluster.topology.device(rank.self.gpu).node)] += per_rank;
  }
  // Prepared a step ahead: the next step cannot begin before this one's preparation ends.
  for (const double of_node : samples) {
    if (of_node <= 0) continue;
    step.plan.add(Work{.activity = Activity::input,
                       .duration = preparation_time(*step.job.input, of_node),
                       .label = step.plan.label("input pipeline")});
  }
}

}  // namespace gpuscale
