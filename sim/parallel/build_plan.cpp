#include "parallel/build_plan.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "collective/all_reduce.hpp"
#include "parallel/step_builder.hpp"
#include "units/check.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

constexpr double kForwardAndBackward = 3.0;  // backward makes two products of the size of forward's one

/// Samples a pass; a remainder makes one more pass of the same size, which errs on the slow side.
std::int64_t pass_size(const Job& job, const RankGrid& grid, std::int64_t replica_batch) {
  const std::int64_t asked = job.parallel.model.sub_batch;
  return grid.model > 1 && asked > 0 ? std::min(asked, replica_batch) : replica_batch;
}

std::vector<Rank> add_ranks(PlanBuilder& plan, const Job& job, const ClusterSpec& spec, const Cluster& cluster) {
  std::vector<Rank> ranks;
  const bool shared = job.framework.host.shared;
  const LaneId shared_host = shared ? plan.add_lane("host") : LaneId();
  for (const DeviceId gpu : cluster.ranks) {
    const std::string& name = cluster.topology.device(gpu).name;
    Rank rank;
    rank.self = {.gpu = gpu,
                 .compute = plan.add_lane(name + " compute"),
                 .memory_bandwidth = spec.gpu.memory_bandwidth,
                 .stream_bandwidth = spec.gpu.memory_bandwidth * spec.gpu.family.stream.memory};
    rank.host = shared ? shared_host : plan.add_lane(name + " host");
    ranks.push_back(rank);
  }
  return ranks;
}

void begin_step(StepBuilder& step) {
  const Seconds cost = step.job.framework.host.step;
  if (cost.count() <= 0) return;
  TaskId once;
  for (Rank& rank : step.ranks) {
    const bool already = step.job.framework.host.shared && once.valid();
    if (!already) {
      once = step.plan.add(
          Work{.activity = Activity::host, .lane = rank.host, .duration = cost, .label = step.plan.label("step")});
    }
    rank.last = once;
  }
}

Bytes exchange_buffers(const StepBuilder& step) {
  if (step.grid.data < 2) return {};
  const double parameters = parameter_count(step.work);
  const Codec& code = codec(step.job.parallel.exchange.codec);
  Bytes buffers;
  if (code.error_feedback) buffers += Bytes(4) * parameters;
  if (code.kind != CodecKind::none) buffers += Bytes(parameters * code.bits_per_value / 8.0);
  // A framework that collects tensors into pieces copies them there.
  const bool collects = step.job.framework.exchange.bucket.count() > 0 || step.job.framework.exchange.whole_model;
  if (collects) buffers += Bytes(4) * parameters;
  return buffers;
}

void note_facts(StepBuilder& step) {
  const double samples = static_cast<double>(step.batch.global);
  step.result.grid = step.grid;
  step.result.batch = step.batch;
  step.result.tokens_per_sample = step.work.tokens_per_sample;
  const ModelWork whole = rank_work(step.job, RankGrid{}, 1);
  step.result.parameters = parameter_count(whole);
  step.result.model_flop = forward_flop_per_sample(whole) * kForwardAndBackward * samples;
  step.result.work = step.work;
  step.result.times = step.times;
  step.result.passes = step.passes;
  step.result.exchange_buffers = step.job.parallel.independent ? Bytes() : exchange_buffers(step);
}

PlannedStep plan_transfer(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time) {
  check(cluster.ranks.size() >= 2, "the reader refuses a transfer between fewer than two GPUs");
  PlannedStep step;
  PlanBuilder plan;
  const std::vector<Rank> ranks = add_ranks(plan, job, spec, cluster);
  Exchange exchange;
  exchange.values = static_cast<double>(job.transfer->numbers);
  exchange.size = storage_size(job.precision) * exchange.values;
  exchange.codec = job.parallel.exchange.codec;
  exchange.label = plan.label("transfer");
  exchange.codec_label = plan.label("codec");
  const RankGroup pair(cluster.topology, {ranks[0].self, ranks[1].self}, job.framework.transport, plan_time);
  add_send(plan, pair, exchange, TaskId());
  step.sent_per_gpu = encoded_size(codec(exchange.codec), exchange.values, exchange.size);
  step.sent_uncompressed_per_gpu = exchange.size;
  step.exchanges = 1;
  step.plan = std::move(plan).build();
  return step;
}

}  // namespace

RankGrid RankGrid::of(const ParallelConfig& config, int gpus) {
  RankGrid grid;
  grid.model = config.model.degree;
  grid.data = config.data > 0 ? config.data : gpus / grid.model;
  check(grid.size() == gpus, "the reader refuses degrees that do not multiply to the GPU count");
  return grid;
}

BatchSizes batch_sizes(const Job& job, const RankGrid& grid) {
  BatchSizes sizes;
  if (job.batch.per_gpu) {
    // "per gpu" keeps the work of a GPU, so a copy of the model that spans several sees theirs together.
    sizes.replica = job.batch.samples * grid.model;
    sizes.global = job.batch.samples * grid.size();
  } else {
    sizes.replica = job.batch.samples / grid.data;
    sizes.global = job.batch.samples;
  }
  return sizes;
}

ModelWork rank_work(const Job& job, const RankGrid& grid, std::int64_t samples) {
  std::vector<Problem> problems;
  ModelWork work = lower(job.model,
                         {.batch = samples,
                          .precision = job.precision,
                          .sequence = job.sequence,
                          .fused_elementwise = job.framework.fused_elementwise,
                          .fused_attention = job.framework.fused_attention,
                          .sparse_embeddings = job.framework.sparse_embedding,
                          .model_split = grid.model},
                         problems);
  if (!problems.empty()) throw ScenarioError(std::move(problems));
  return work;
}

/// Each rank issues and computes each layer forward and backward in each pass.
static void refuse_too_many_tasks(const StepBuilder& step) {
  const double tasks = 4.0 * static_cast<double>(step.work.layers.size()) * static_cast<double>(step.passes) *
                       static_cast<double>(step.grid.size());
  if (tasks <= kMostTasks) return;
  const bool by_passes = step.passes > step.grid.size();
  throw ScenarioError({{Place{}, fmt::format("a step of {:.3g} tasks is more than the {:.0g} that one run may have; {}",
                                             tasks, kMostTasks,
                                             by_passes ? "use a larger 'strategy.model.sub_batch' or a smaller batch"
                                                       : "use fewer GPUs: every one is simulated")}});
}

PlannedStep build_plan(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time) {
  if (job.transfer) return plan_transfer(job, spec, cluster, plan_time);
  const RankGrid grid = RankGrid::of(job.parallel, static_cast<int>(cluster.ranks.size()));
  const BatchSizes batch = batch_sizes(job, grid);
  const std::int64_t pass = pass_size(job, grid, batch.replica);
  StepBuilder step{.job = job,
                   .spec = spec,
                   .cluster = cluster,
                   .plan_time = plan_time,
                   .grid = grid,
                   .batch = batch,
                   .work = rank_work(job, grid, pass)};
  step.times = layer_times(step.work, spec.gpu, job);
  step.passes = (batch.replica + pass - 1) / pass;
  refuse_too_many_tasks(step);
  step.ranks = add_ranks(step.plan, job, spec, cluster);
  note_facts(step);
  begin_step(step);
  const bool exchanges = !job.parallel.independent && (grid.size() > 1 || updates_on_server(job));
  step.result.algorithm = algorithm_in_force(job);
  if (exchanges && step.result.algorithm == ExchangeAlgorithm::gather && grid.data == grid.size()) {
    add_gathered_step(step);
  } else {
    add_forward_and_backward(step);
    if (exchanges) add_gradient_exchange(step);
  }
  add_optimizer_step(step);
  add_input(step);
  step.result.plan = std::move(step.plan).build();
  return std::move(step.result);
}

}  // namespace gpuscale
