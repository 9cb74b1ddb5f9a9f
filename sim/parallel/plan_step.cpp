#include "parallel/plan_step.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "collective/all_reduce.hpp"
#include "parallel/step_builder.hpp"
#include "units/check.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

constexpr double kForwardAndBackward = 3.0;  // backward makes two products of the size of forward's one

/// Samples a pass; a remainder makes one more pass of the same size, which errs on the slow side.
std::int64_t pass_size(const Job& job, const RankGrid& grid, const BatchSizes& batch) {
  const ParallelConfig& parallel = job.parallel;
  if (parallel.model.degree > 1) {
    const std::int64_t asked = parallel.model.sub_batch;
    return grid.tensor > 1 && asked > 0 ? std::min(asked, batch.replica) : batch.replica;
  }
  return std::max<std::int64_t>(1, batch.replica / microbatch_count(job, batch));
}

/// Layers before the first that is split (or that every rank computes for all), in a net whose convolutions come first.
std::size_t undivided_layers(const ModelWork& work, const ParallelConfig& parallel) {
  if (parallel.model.degree < 2) return 0;
  const auto split = std::ranges::find_if(work.layers, [&](const LayerWork& layer) {
    return parallel.model.whole ? layer.kind == "linear" : !layer.forward_exchanges.empty();
  });
  const auto convolves = [](const LayerWork& layer) { return layer.kind == "conv"; };
  if (split == work.layers.end() || !std::any_of(work.layers.begin(), split, convolves)) return 0;
  return static_cast<std::size_t>(split - work.layers.begin());
}

/// Neighbours among the copies that share out what ZeRO divides.
int shard_size(const ParallelConfig& parallel, const RankGrid& grid, const Cluster& cluster) {
  if (parallel.shard.stage == 0) return 1;
  const Members copies = grid.groups({RankAxis::context, RankAxis::data}).front();
  if (!parallel.shard.within_node) return static_cast<int>(copies.size());
  const auto node_of = [&](std::size_t rank) { return cluster.topology.device(cluster.ranks[rank]).node; };
  const auto here =
      std::ranges::count_if(copies, [&](std::size_t rank) { return node_of(rank) == node_of(copies.front()); });
  // Of unequal boxes the shares must still be equal.
  int size = static_cast<int>(here);
  while (copies.size() % static_cast<std::size_t>(size) != 0) --size;
  return size;
}

struct Ranks {
  std::vector<Role> roles;
  GroupExchanges::Ranks all;
};

/// Lanes for every role, and ranks on the lanes of their roles.
Ranks add_ranks(PlanBuilder& plan, const Job& job, const ClusterSpec& spec, const Cluster& cluster,
                const RankGrid& grid, const RankKinds& kinds, std::vector<std::size_t> roles) {
  Ranks ranks;
  ranks.all.roles = std::move(roles);
  const bool shared = job.framework.host.shared;
  const LaneId shared_host = shared ? plan.add_lane("host") : LaneId();
  for (std::size_t rank = 0; rank < ranks.all.roles.size(); ++rank) {
    const std::string& name = cluster.topology.device(cluster.ranks[rank]).name;
    if (ranks.all.roles[rank] == ranks.roles.size()) {
      Role role{.stage = grid.place(rank, RankAxis::pipeline), .kind = kinds.of_rank[rank]};
      const Gpu& gpu = card(spec, kinds.kinds[role.kind].card);
      role.self = {.gpu = cluster.ranks[rank],
                   .compute = plan.add_lane(name + " compute"),
                   .memory_bandwidth = gpu.memory_bandwidth,
                   .stream_bandwidth = gpu.memory_bandwidth * gpu.family.stream.memory};
      role.host_pace = host_pace(gpu);
      role.hosts_itself = gpu.own_host.has_value();
      role.host = shared ? shared_host : plan.add_lane(name + " host");
      ranks.roles.push_back(role);
    }
    Participant self = ranks.roles[ranks.all.roles[rank]].self;
    self.gpu = cluster.ranks[rank];
    ranks.all.participants.push_back(self);
  }
  return ranks;
}

void note_facts(StepBuilder& step) {
  const double samples = static_cast<double>(step.batch.global);
  PlannedStep& result = step.result;
  result.grid = step.grid;
  result.batch = step.batch;
  result.tokens_per_sample = step.work.tokens_per_sample;
  const ModelWork whole = rank_work(step.job, RankGrid{}, 1);
  result.parameters = parameter_count(whole);
  result.model_flop = forward_flop_per_sample(whole) * (step.job.forward_only ? 1.0 : kForwardAndBackward) * samples;
  result.work = step.work;
  result.parts = step.parts;
  result.passes = step.passes;
  result.undivided = step.undivided;
  result.shard = step.shard;
  result.roles = step.roles.size();
  result.algorithm = algorithm_in_force(step.job);
}

void note_most_sent(PlannedStep& result) {
  for (int stage = 0; stage < result.grid.pipeline; ++stage) {
    Bytes encoded;
    Bytes plain;
    for (const SentBytes& sent : result.sent) {
      if (sent.stage != stage) continue;
      encoded += sent.encoded;
      plain += sent.plain;
    }
    if (encoded < result.sent_per_gpu) continue;
    result.sent_per_gpu = encoded;
    result.sent_uncompressed_per_gpu = plain;
  }
}

/// Each role issues and computes each layer forward and backward in each pass.
void refuse_too_many_tasks(const StepBuilder& step) {
  const double tasks = 4.0 * static_cast<double>(step.work.layers.size()) * static_cast<double>(step.passes) *
                       static_cast<double>(step.roles.size()) / step.grid.pipeline *
                       static_cast<double>(step.job.parallel.average_every);
  if (tasks <= kMostTasks) return;
  const std::string_view way_out =
      step.passes > step.grid.size()                       ? (step.job.parallel.model.degree > 1
                                                                  ? "use a larger 'strategy.model.sub_batch' or a smaller batch"
                                                                  : "use fewer 'strategy.pipeline.microbatches' or a larger 'micro_batch'")
      : step.job.parallel.average_every > step.grid.size() ? "average more often"
                                                           : "use fewer GPUs: every one is simulated";
  throw ScenarioError({{Place{}, fmt::format("a step of {:.3g} tasks is more than the {:.0g} that one run may have; {}",
                                             tasks, kMostTasks, way_out)}});
}

/// What each kind of rank does, its card's times and its own batch among it.
std::vector<KindOfRank> kinds_of_ranks(const StepBuilder& step, const RankKinds& kinds) {
  std::vector<KindOfRank> result;
  for (const RankKind& kind : kinds.kinds) {
    KindOfRank added{.kind = kind};
    if (kind.samples != step.batch.replica)
      added.work = rank_work(step.job, step.grid, kind.samples / step.job.parallel.pipeline.microbatches);
    added.times = layer_times(added.work ? *added.work : step.work, card(step.spec, kind.card), step.job);
    result.push_back(std::move(added));
  }
  for (const std::size_t kind : kinds.of_rank) ++result[kind].ranks;
  return result;
}

/// Layer by layer what the slowest of these kinds takes.
std::vector<LayerTime> slowest_times(const StepBuilder& step, const std::set<std::size_t>& kinds) {
  std::vector<LayerTime> slowest = step.kinds[*kinds.begin()].times;
  for (const std::size_t kind : kinds) {
    const std::vector<LayerTime>& times = step.kinds[kind].times;
    for (std::size_t layer = 0; layer < slowest.size(); ++layer) {
      slowest[layer].forward = std::max(slowest[layer].forward, times[layer].forward);
      slowest[layer].backward = std::max(slowest[layer].backward, times[layer].backward);
    }
  }
  return slowest;
}

/// What layers take on each stage; one list where all stages have the same cards.
StageTimes stage_times(const StepBuilder& step) {
  if (step.kinds.size() == 1) return {step.kinds.front().times};
  StageTimes stages;
  bool alike = true;
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    const std::set<std::size_t> kinds = step.kinds_of(stage);
    alike = alike && kinds == step.kinds_of(0);
    stages.push_back(slowest_times(step, kinds));
  }
  if (alike) stages.resize(1);
  return stages;
}

/// The layers of one pass, those before a layer split with each rank's own part of the whole batch.
ModelWork work_of_passes(const Job& job, const RankGrid& grid, const BatchSizes& batch, std::size_t& undivided) {
  ModelWork work = rank_work(job, grid, pass_size(job, grid, batch));
  undivided = undivided_layers(work, job.parallel);
  if (undivided == 0) return work;
  const std::int64_t own = std::max<std::int64_t>(1, batch.replica / grid.tensor);
  const ModelWork before = rank_work(job, RankGrid{}, own);
  std::copy_n(before.layers.begin(), undivided, work.layers.begin());
  return work;
}

}  // namespace

PlannedStep plan_step(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time,
                      const RankKinds& kinds, const std::vector<std::size_t>& roles, bool stays_coupled) {
  const RankGrid grid = rank_grid(job.parallel, static_cast<int>(cluster.ranks.size()));
  const BatchSizes batch = batch_sizes(job, grid);
  std::size_t undivided = 0;
  ModelWork work = work_of_passes(job, grid, batch, undivided);
  PlanBuilder plan;
  if (stays_coupled) plan.keep_no_steps();
  Ranks ranks = add_ranks(plan, job, spec, cluster, grid, kinds, roles);
  StepBuilder step{.job = job,
                   .spec = spec,
                   .cluster = cluster,
                   .grid = grid,
                   .batch = batch,
                   .work = std::move(work),
                   .kind_of_rank = kinds.of_rank,
                   .undivided = undivided,
                   .shard = shard_size(job.parallel, grid, cluster),
                   .plan = std::move(plan),
                   .roles = std::move(ranks.roles),
                   .exchanges = GroupExchanges(cluster, std::move(ranks.all), job.framework.transport, plan_time)};
  if (job.parallel.tensor.overlap <= 0.0) step.exchanges.note_waited_for(step.plan.label("tensor exchange"));
  step.kinds = kinds_of_ranks(step, kinds);
  step.parts = cut_into_parts(step.work, stage_times(step), job.parallel.pipeline);
  step.tied = copy_tied_tables(step.work, step.parts);
  const std::int64_t pass = pass_size(job, grid, batch);
  step.passes = job.parallel.model.degree > 1 ? (batch.replica + pass - 1) / pass : job.parallel.pipeline.microbatches;
  refuse_too_many_tasks(step);
  note_facts(step);

  add_steps(step);
  note_most_sent(step.result);
  for (const Role& role : step.roles) {
    step.kinds[role.kind].lanes.push_back(role.self.compute);
    step.kinds[role.kind].last.push_back(role.last);
  }
  step.result.kinds = std::move(step.kinds);
  step.result.kind_of_rank = std::move(step.kind_of_rank);
  step.result.stands_for = step.exchanges.merge_channels(step.plan);
  step.result.plan = std::move(step.plan).build();
  return std::move(step.result);
}

PlannedStep plan_transfer(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time,
                          const RankKinds& kinds, const std::vector<std::size_t>& roles) {
  check(cluster.ranks.size() >= 2, "the reader refuses a transfer between fewer than two GPUs");
  PlannedStep step;
  PlanBuilder plan;
  const RankGrid grid{.data = static_cast<int>(cluster.ranks.size())};
  const Ranks ranks = add_ranks(plan, job, spec, cluster, grid, kinds, roles);
  Exchange exchange;
  exchange.values = static_cast<double>(job.transfer->numbers);
  exchange.size = storage_size(job.precision) * exchange.values;
  exchange.codec = job.parallel.exchange.codec;
  exchange.label = plan.label("transfer");
  exchange.codec_label = plan.label("codec");
  const RankGroup pair(cluster.topology, {ranks.all.participants[0], ranks.all.participants[1]},
                       job.framework.transport, plan_time);
  add_send(plan, pair, exchange, TaskId());
  step.sent_per_gpu = encoded_size(codec(exchange.codec), exchange.values, exchange.size);
  step.sent_uncompressed_per_gpu = exchange.size;
  step.exchanges = 1;
  step.plan = std::move(plan).build();
  return step;
}

}  // namespace gpuscale
