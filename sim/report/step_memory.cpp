#include "report/step_memory.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "memory/largest_batch.hpp"
#include "memory/scratch.hpp"
#include "parallel/schedule.hpp"
#include "parallel/tied_tables.hpp"
#include "topology/cards.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

constexpr double kMostSamples = 1e9;  // beyond it a batch has no meaning

Bytes exchange_buffers(const Job& job, const PlannedStep& step, double parameters) {
  if (step.grid.data * step.grid.context < 2 || job.parallel.independent) return {};
  const Codec& code = codec(job.parallel.exchange.codec);
  Bytes buffers;
  if (code.error_feedback) buffers += Bytes(4) * parameters;
  const bool has_codes = code.kind != CodecKind::none && code.sum != CodecSum::factors;
  if (has_codes) buffers += Bytes(parameters * code.bits_per_value / 8.0);
  // A framework that collects tensors into pieces copies them there; one whose gradients lie in one buffer does not.
  const ExchangeHabit& habit = job.framework.exchange;
  const bool collects = (habit.bucket.count() > 0 || habit.whole_model) && !job.framework.contiguous_gradients;
  if (collects && job.parallel.shard.stage == 0) buffers += Bytes(4) * parameters;
  return buffers;
}

/// What a GPU of the stage holds, by runs of layers.
std::vector<HeldLayers> held_by(const Job& job, const PlannedStep& step, int stage) {
  if (step.undivided > 0) {
    return {{.first = 0, .last = step.undivided, .alive = 1.0},
            {.first = step.undivided, .last = step.work.layers.size(), .alive = static_cast<double>(step.passes)}};
  }
  PipelineConfig pipeline = job.parallel.pipeline;
  pipeline.microbatches = step.passes;
  const bool by_layers = job.parallel.model.degree > 1;
  const double alive = by_layers                 ? static_cast<double>(step.passes)
                       : step.grid.pipeline == 1 ? 1.0  // a microbatch ends before the next begins
                                                 : microbatches_in_flight(pipeline, stage);
  std::vector<HeldLayers> held;
  for (const ModelPart& part : step.parts) {
    if (part.stage == stage) held.push_back({.first = part.first, .last = part.last, .alive = alive});
  }
  return held;
}

Kept kept_by(Recompute recompute) {
  return recompute == Recompute::full        ? Kept::unit_inputs
         : recompute == Recompute::selective ? Kept::all_but_scores
         : recompute == Recompute::alternate ? Kept::every_second_product
                                             : Kept::everything;
}

/// PyTorch's pipelining returns the scores of the whole batch when the step ends (output_chunks in
/// torch.distributed.pipelining): those of the microbatches before, beside the last one's. A wide loss has them in
/// fp32.
Bytes returned_scores(const Job& job, const PlannedStep& step, const ModelWork& work, int stage) {
  const bool returns = job.framework.dtensor && step.grid.pipeline > 1 && stage + 1 == step.grid.pipeline;
  if (!returns || work.layers.size() < 2) return {};
  const Bytes scores = work.layers[work.layers.size() - 2].output;
  const double wider = job.framework.wide_loss ? Bytes(4) / activation_size(job.precision) : 1.0;
  return scores * (std::max(1.0, wider) * static_cast<double>(step.passes - 1));
}

double share_from(int zero, const ParallelConfig& parallel, const PlannedStep& step) {
  return parallel.shard.stage >= zero ? 1.0 / step.shard : 1.0;
}

/// \param scratch as in MemoryOptions
Footprint footprint_of(const Job& job, const PlannedStep& step, const ModelWork& work, int stage,
                       std::vector<Bytes> scratch) {
  const ParallelConfig& parallel = job.parallel;
  const std::vector<HeldLayers> held = held_by(job, step, stage);
  double parameters = 0;
  for (const HeldLayers& run : held) {
    for (std::size_t layer = run.first; layer < run.last; ++layer) parameters += parameter_count(work.layers[layer]);
  }
  MemoryOptions options{
      .precision = job.precision,
      .optimizer = job.optimizer,
      .optimizer_elsewhere = (updates_on_server(job) && !parallel.independent) || parallel.offload_optimizer,
      .gradients_fp32 = job.framework.gradients_fp32 || (job.framework.dtensor && step.passes > 1),
      .exchange_buffers = exchange_buffers(job, step, parameters),
      .returned_scores = returned_scores(job, step, work, stage),
      .framework = job.framework.base_memory,
      .optimizer_share = share_from(1, parallel, step),
      .gradient_share = share_from(2, parallel, step),
      .parameter_share = share_from(3, parallel, step),
      .copies_gathered = job.framework.dtensor,
      .expert_ranks = static_cast<double>(step.grid.expert),
      .kept = kept_by(parallel.recompute),
      .has_input = stage == 0,
      .scratch = std::move(scratch)};
  options.units = unit_starts(work);
  return footprint(work, held, options);
}

/// Ranks that hold the same: of one kind on one stage.
struct Holders {
  int stage = 0;
  std::size_t kind = 0;  ///< of PlannedStep::kinds

  auto operator<=>(const Holders&) const = default;
};

std::set<Holders> holders_of(const PlannedStep& step) {
  std::set<Holders> found;
  for (std::size_t rank = 0; rank < step.kind_of_rank.size(); ++rank)
    found.insert({step.grid.place(rank, RankAxis::pipeline), step.kind_of_rank[rank]});
  return found;
}

struct Held {
  Holders who;
  std::size_t card = 0;
  Footprint memory;
  Bytes least;  ///< with the algorithms that need least workspace
};

std::vector<Held> held_by_all(const Job& job, const PlannedStep& step, const ClusterSpec& spec) {
  std::vector<std::vector<Bytes>> scratch;  // by kind of rank
  std::vector<std::vector<Bytes>> least;
  for (const KindOfRank& kind : step.kinds) {
    const Gpu& gpu = card(spec, kind.kind.card);
    scratch.push_back(convolution_scratch(step.work_of(kind), gpu, job.precision));
    least.push_back(convolution_scratch(step.work_of(kind), gpu, job.precision, Bytes()));
  }
  std::vector<Held> all;
  for (const Holders& who : holders_of(step)) {
    const KindOfRank& kind = step.kinds[who.kind];
    const ModelWork& work = step.work_of(kind);
    all.push_back({.who = who,
                   .card = kind.kind.card,
                   .memory = footprint_of(job, step, work, who.stage, scratch[who.kind]),
                   .least = footprint_of(job, step, work, who.stage, least[who.kind]).total()});
  }
  return all;
}

/// The largest pass of one copy of the model with which every card fits, of an even share, whatever algorithms that
/// leaves to convolutions. 0 if not even one sample does.
double largest_pass_that_fits(const Job& job, const PlannedStep& step, const ClusterSpec& spec) {
  Bytes largest_card;
  for (std::size_t kind = 0; kind < card_kinds(spec); ++kind)
    largest_card = std::max(largest_card, card(spec, kind).memory_size);
  const std::set<Holders> holders = holders_of(step);
  // On the largest card, with what a smaller one lacks counted as used.
  const auto total = [&](double samples) {
    Bytes most;
    for (std::size_t number = 0; number < step.kinds.size(); ++number) {
      const RankKind& kind = step.kinds[number].kind;
      const double share = static_cast<double>(kind.samples) / static_cast<double>(step.batch.replica);
      PlannedStep whole;  // a batch of split layers is then one pass
      whole.grid = step.grid;
      whole.parts = step.parts;
      whole.shard = step.shard;
      whole.passes = job.parallel.model.degree > 1 ? 1 : step.passes;
      whole.work = rank_work(job, step.grid, std::max<std::int64_t>(1, static_cast<std::int64_t>(samples * share)));
      copy_tied_tables(whole.work, step.parts);
      const Gpu& gpu = card(spec, kind.card);
      const std::vector<Bytes> scratch = convolution_scratch(whole.work, gpu, job.precision, Bytes());
      const Bytes lacking = largest_card - gpu.memory_size;
      for (const Holders& who : holders) {
        if (who.kind == number)
          most = std::max(most, footprint_of(job, whole, whole.work, who.stage, scratch).total() + lacking);
      }
    }
    return most;
  };
  return largest_that_fits(total, largest_card, static_cast<double>(step.work.batch), kMostSamples);
}

}  // namespace

MemoryReport memory_report(const Job& job, const PlannedStep& step, const ClusterSpec& spec) {
  MemoryReport memory;
  memory.stages.resize(static_cast<std::size_t>(step.grid.pipeline));
  std::optional<Bytes> least_room;
  std::optional<Bytes> left;
  for (const Held& held : held_by_all(job, step, spec)) {
    Footprint& of_stage = memory.stages[static_cast<std::size_t>(held.who.stage)];
    if (held.memory.total() > of_stage.total()) of_stage = held.memory;
    const Bytes capacity = card(spec, held.card).memory_size;
    const Bytes room = capacity - held.memory.total();
    memory.fits = memory.fits && held.memory.total() <= capacity;
    memory.short_of_workspace =
        memory.short_of_workspace || (held.memory.total() > capacity && held.least < held.memory.total());
    left = std::min(left.value_or(capacity), capacity - held.least);
    if (least_room && room >= *least_room) continue;
    least_room = room;
    memory.footprint = held.memory;
    memory.capacity = capacity;
  }
  memory.room_for_workspace = std::max(left.value_or(Bytes()), Bytes());
  // A copy of the model sees the samples of all the GPUs it spans, pass by pass.
  const double passes = job.parallel.model.degree > 1 ? 1.0 : static_cast<double>(step.passes);
  memory.largest_batch_per_gpu = std::floor(largest_pass_that_fits(job, step, spec) * passes / step.grid.replica());
  return memory;
}

std::vector<Footprint> memory_by_card(const Job& job, const PlannedStep& step, const ClusterSpec& spec) {
  std::vector<Footprint> fullest(card_kinds(spec));
  for (const Held& held : held_by_all(job, step, spec)) {
    if (held.memory.total() > fullest[held.card].total()) fullest[held.card] = held.memory;
  }
  return fullest;
}

}  // namespace gpuscale
