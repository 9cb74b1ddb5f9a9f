#include "parallel/step_builder.hpp"

namespace gpuscale {

const RankGroup& StepBuilder::group(std::size_t first, std::size_t size, std::size_t stride) {
  const std::tuple key(first, size, stride);
  const auto found = groups.find(key);
  if (found != groups.end()) return found->second;
  std::vector<Participant> members;
  members.reserve(size);
  for (std::size_t i = 0; i < size; ++i) members.push_back(ranks[first + i * stride].self);
  return groups.emplace(key, RankGroup(cluster.topology, std::move(members), job.framework.transport, plan_time))
      .first->second;
}

void StepBuilder::note_sent(const Exchange& exchange, double share) {
  result.sent_per_gpu += encoded_size(codec(exchange.codec), exchange.values, exchange.size) * share;
  result.sent_uncompressed_per_gpu += exchange.size * share;
}

void add_layer_work(StepBuilder& step, Rank& rank, Seconds host, Seconds compute, std::uint32_t label,
                    TaskId also_requires) {
  const TaskId issued =
      host.count() > 0
          ? step.plan.add(Work{.activity = Activity::host, .lane = rank.host, .duration = host, .label = label})
          : TaskId();
  rank.last =
      step.plan.add(Work{.activity = Activity::compute, .lane = rank.self.compute, .duration = compute, .label = label},
                    {issued, rank.last, also_requires});
}

bool updates_on_server(const Job& job) {
  return job.framework.optimizer_on_server && algorithm_in_force(job) == ExchangeAlgorithm::parameter_server_cpu;
}

ExchangeAlgorithm algorithm_in_force(const Job& job) {
  const ExchangeAlgorithm asked = job.parallel.exchange.algorithm;
  return asked == ExchangeAlgorithm::automatic ? job.framework.exchange.algorithm : asked;
}

}  // namespace gpuscale
