#include "parallel/build_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "parallel/plan_step.hpp"
#include "parallel/step_builder.hpp"
#include "units/check.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// By rank: the number of its role. One for each kind of rank on each stage.
std::vector<std::size_t> first_roles(const RankGrid& grid, const RankKinds& kinds) {
  std::vector<std::size_t> roles;
  std::map<std::pair<int, std::size_t>, std::size_t> numbers;
  for (std::size_t rank = 0; rank < kinds.of_rank.size(); ++rank) {
    const std::pair key(grid.place(rank, RankAxis::pipeline), kinds.of_rank[rank]);
    roles.push_back(numbers.try_emplace(key, numbers.size()).first->second);
  }
  return roles;
}

/// Every rank with a role of its own.
std::vector<std::size_t> roles_alone(std::size_t ranks) {
  std::vector<std::size_t> roles(ranks);
  std::iota(roles.begin(), roles.end(), std::size_t{0});
  return roles;
}

/// Whether ranks may be taken as alike: not where they share a thread or a server, which serve them in turn, and not
/// where exchanges run into the next step, for which folding was seen to differ by rounding. Pieces of a hierarchical
/// exchange overlap, in an order that unlike cards and kernels of codecs between them change from rank to rank.
bool may_fold(const Job& job, const ClusterSpec& spec, const RankGrid& grid) {
  const ExchangeAlgorithm algorithm = algorithm_in_force(job);
  const bool in_pieces =
      spec.nodes > 1 && (algorithm == ExchangeAlgorithm::automatic || algorithm == ExchangeAlgorithm::hierarchical);
  const bool recodes = codec(job.parallel.exchange.codec).sum != CodecSum::in_flight;
  if (in_pieces && (recodes || card_kinds(spec) > 1)) return false;
  const bool one_for_all = meets_at_one_rank(algorithm);
  const bool runs_on = job.parallel.exchange.delayed || schedule_in_force(job) == ExchangeSchedule::priority;
  return !runs_on && grid.size() > 1 && !job.framework.host.shared && (!one_for_all || job.parallel.independent) &&
         job.parallel.exchange.fidelity == Fidelity::coupled;
}

/// The job with as few microbatches, of the same size, as show all it exchanges; nothing if it has no more than those.
std::optional<Job> shortened(Job job, const RankGrid& grid) {
  PipelineConfig& pipeline = job.parallel.pipeline;
  const std::int64_t microbatches = std::min<std::int64_t>(pipeline.microbatches, pipeline.stages);
  const std::int64_t steps = std::min<std::int64_t>(job.parallel.average_every, 2);
  const bool is_short = microbatches == pipeline.microbatches && steps == job.parallel.average_every;
  if (job.parallel.model.degree > 1 || is_short) return std::nullopt;
  const BatchSizes batch = batch_sizes(job, grid);
  const std::int64_t samples = job.parallel.batch_split == BatchSplit::even
                                   ? batch.replica / pipeline.microbatches * grid.data
                                   : batch.global / pipeline.microbatches;
  pipeline.microbatches = microbatches;
  pipeline.micro_batch = 0;
  job.batch = {.samples = samples * microbatches, .per_gpu = false};
  job.parallel.average_every = steps;
  return job;
}

/// The ranks of a job with so many microbatches of the same size in place of others.
RankKinds shortened(RankKinds kinds, std::int64_t microbatches, std::int64_t few) {
  for (RankKind& kind : kinds.kinds) kind.samples = kind.samples / microbatches * few;
  return kinds;
}

/// The step with ranks that do the same at the same time in one role. Starts with one role for each kind of rank on
/// each stage and parts those that a short step shows to differ, until none do.
PlannedStep plan_folded(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time,
                        const RankGrid& grid, const RankKinds& kinds) {
  constexpr std::size_t kFewRanks = 4;  // a role must stand for so many on average to be worth the search
  const auto count = [](const std::vector<std::size_t>& of) { return 1 + *std::ranges::max_element(of); };
  const std::optional<Job> brief = shortened(job, grid);
  const Job& tried = brief ? *brief : job;
  const RankKinds tried_kinds =
      shortened(kinds, job.parallel.pipeline.microbatches, tried.parallel.pipeline.microbatches);
  std::vector<std::size_t> roles = first_roles(grid, kinds);
  while (true) {
    try {
      PlannedStep step = plan_step(tried, spec, cluster, plan_time, tried_kinds, roles, true);
      return brief ? plan_step(job, spec, cluster, plan_time, kinds, roles, true) : std::move(step);
    } catch (const NotAlike& differ) {
      const bool worth_it =
          count(differ.roles) > count(roles) && count(differ.roles) * kFewRanks <= cluster.ranks.size();
      if (!worth_it) return plan_step(job, spec, cluster, plan_time, kinds, roles_alone(cluster.ranks.size()), true);
      roles = differ.roles;
    }
  }
}

}  // namespace

RankGrid rank_grid(const ParallelConfig& config, int gpus) {
  RankGrid grid;
  grid.tensor = std::max(config.tensor.degree, config.model.degree);
  grid.context = config.context.degree;
  grid.pipeline = config.pipeline.stages;
  grid.expert = config.expert.degree;
  grid.order = config.order;
  grid.data = config.data > 0 ? config.data : gpus / grid.replica();
  check(grid.size() == gpus && grid.data % grid.expert == 0,
        "the reader refuses degrees that do not multiply to the GPU count");
  return grid;
}

BatchSizes batch_sizes(const Job& job, const RankGrid& grid) {
  BatchSizes sizes;
  if (job.batch.per_gpu) {
    // "per gpu" keeps the work of a GPU, so a copy of the model that spans several sees theirs together.
    sizes.replica = job.batch.samples * grid.replica();
    sizes.global = job.batch.samples * grid.size();
  } else {
    sizes.replica = job.batch.samples / grid.data;
    sizes.global = job.batch.samples;
  }
  return sizes;
}

std::int64_t microbatch_count(const Job& job, const BatchSizes& batch) {
  const PipelineConfig& pipeline = job.parallel.pipeline;
  return pipeline.micro_batch > 0 ? std::max<std::int64_t>(1, batch.replica / pipeline.micro_batch)
                                  : pipeline.microbatches;
}

ModelWork rank_work(const Job& job, const RankGrid& grid, std::int64_t samples) {
  const ParallelConfig& parallel = job.parallel;
  std::vector<Problem> problems;
  const bool by_layers = parallel.model.degree > 1;
  ModelWork work = lower(job.model,
                         {.batch = samples,
                          .precision = job.precision,
                          .sequence = job.sequence,
                          .fused_elementwise = job.framework.fused_elementwise,
                          .written_out = job.framework.written_out,
                          .convolution = job.framework.convolution,
                          .wide_loss = job.framework.wide_loss,
                          .fused_attention = job.framework.fused_attention,
                          .sparse_embeddings = job.framework.sparse_embedding,
                          .model_split = by_layers && !parallel.model.whole ? grid.tensor : 1,
                          .tensor = by_layers ? 1 : grid.tensor,
                          .sequence_parallel = parallel.tensor.sequence_parallel && grid.tensor > 1,
                          .dtensor = job.framework.dtensor,
                          .context = grid.context,
                          .context_method = parallel.context.method,
                          .context_balanced = parallel.context.balanced,
                          .expert = grid.expert,
                          .expert_imbalance = grid.expert > 1 ? parallel.expert.imbalance : 1.0},
                         problems);
  if (!problems.empty()) throw ScenarioError(std::move(problems));
  return work;
}

PlannedStep build_plan(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time) {
  const std::size_t ranks = cluster.ranks.size();
  if (job.transfer) {
    const RankGrid pair{.data = static_cast<int>(ranks)};
    return plan_transfer(job, spec, cluster, plan_time, rank_kinds(job, spec, cluster, pair), roles_alone(ranks));
  }
  const RankGrid grid = rank_grid(job.parallel, static_cast<int>(ranks));
  Job settled = job;
  settled.parallel.pipeline.microbatches = microbatch_count(job, batch_sizes(job, grid));
  const RankKinds kinds = rank_kinds(settled, spec, cluster, grid);
  const bool foldable = may_fold(job, spec, grid);
  if (!foldable || !job.parallel.fold)
    return plan_step(settled, spec, cluster, plan_time, kinds, roles_alone(ranks), foldable);
  return plan_folded(settled, spec, cluster, plan_time, grid, kinds);
}

}  // namespace gpuscale
