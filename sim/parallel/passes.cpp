// What one stage computes of its part of the model for one microbatch, and what its ranks exchange for it.

#include "parallel/passes.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "collective/all_reduce.hpp"
#include "units/check.hpp"
#include "units/sort_unique.hpp"

namespace gpuscale {

namespace {

struct AxisWords {
  GroupKind group;
  std::string_view purpose;
};

AxisWords words_of(const StepBuilder& step, SplitAxis axis) {
  if (axis == SplitAxis::context) return {GroupKind::context, "context"};
  if (axis == SplitAxis::expert) return {GroupKind::expert, "expert"};
  return {GroupKind::tensor, step.job.parallel.model.degree > 1 ? "activation" : "tensor"};
}

Collective collective_of(LayerCollective what) {
  constexpr std::array kSame = {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                                Collective::all_to_all};
  return kSame[static_cast<std::size_t>(what)];
}

/// Whether the nearest earlier layer with parameters is split: then each rank needs the errors of its
/// own outputs only.
bool split_before(const ModelWork& work, std::size_t layer) {
  while (layer-- > 0) {
    if (!work.layers[layer].parameters.empty()) return !work.layers[layer].forward_exchanges.empty();
  }
  return false;
}

bool has_blocks(const ModelWork& work) { return std::ranges::any_of(work.layers, starts_block); }

}  // namespace

StagePasses::StagePasses(StepBuilder& step) : step_(step), has_blocks_(has_blocks(step.work)) {
  for (const LayerWork& layer : step.work.layers) {
    forward_labels_.push_back(step.plan.label(layer.name + " forward"));
    backward_labels_.push_back(step.plan.label(layer.name + " backward"));
  }
  units_ = unit_starts(step.work);
  units_.push_back(step.undivided);
  units_.push_back(step.work.layers.size());
  sort_unique(units_);
}

void StagePasses::exchange(std::size_t layer, const std::vector<LayerExchange>& exchanges, ExchangeMoment when,
                           bool backward, RankTasks& now, int stage) {
  const bool layer_split = step_.job.parallel.model.degree > 1;
  for (const LayerExchange& wanted : exchanges) {
    if (wanted.when != when) continue;
    const AxisWords words = words_of(step_, wanted.axis);
    const ParallelConfig& parallel = step_.job.parallel;
    const CodecKind codec = wanted.axis != SplitAxis::tensor ? CodecKind::none
                            : layer_split                    ? parallel.model.codec
                                                             : parallel.tensor.codec;
    const double exposed = layer_split || wanted.axis != SplitAxis::tensor ? 1.0 : 1.0 - parallel.tensor.overlap;
    const Bytes size =
        wanted.size * (when == ExchangeMoment::beside ? 1.0 : exposed) / static_cast<double>(wanted.rounds);
    const Exchange exchange = step_.exchange_of(size, words.purpose, codec);
    const Collective what = collective_of(wanted.what);
    const bool errors_to_all = layer_split && backward && what == Collective::reduce_scatter &&
                               !split_before(step_.work, layer) && layer > step_.undivided;
    const ExchangeAlgorithm algorithm = layer_split ? ExchangeAlgorithm::ring : ExchangeAlgorithm::automatic;
    for (std::int64_t round = 0; round < wanted.rounds; ++round) {
      now = step_.collective(words.group, stage, what, algorithm, exchange, now);
      if (errors_to_all) now = step_.collective(words.group, stage, Collective::all_gather, algorithm, exchange, now);
    }
    const double ranks = static_cast<double>(step_.group_size(words.group));
    step_.note_sent(words.purpose, stage, exchange,
                    static_cast<double>(wanted.rounds) * share_sent(what, ranks) * (errors_to_all ? 2.0 : 1.0));
  }
}

template <class CostOf>
void StagePasses::compute(const ModelPart& part, std::size_t layer, const std::vector<LayerExchange>& exchanges,
                          bool backward, const CostOf& cost_of, std::uint32_t label, RankTasks& now) {
  exchange(layer, exchanges, ExchangeMoment::before, backward, now, part.stage);
  RankTasks beside = now;
  exchange(layer, exchanges, ExchangeMoment::beside, backward, beside, part.stage);
  std::vector<LayerExchange> hidden;  // what asynchronous tensor parallelism moves while the products run
  const double overlap = step_.job.parallel.tensor.overlap;
  for (const LayerExchange& wanted : exchanges) {
    const bool hides = overlap > 0 && wanted.axis == SplitAxis::tensor && wanted.when != ExchangeMoment::beside;
    if (!hides) continue;
    hidden.push_back(wanted);
    hidden.back().when = ExchangeMoment::beside;
    hidden.back().size = wanted.size * overlap;
  }
  exchange(layer, hidden, ExchangeMoment::beside, backward, beside, part.stage);
  for (const std::size_t role : step_.roles_of(part.stage)) {
    const Cost cost = cost_of(step_.time(role, layer));
    const TaskId done = add_layer_work(step_, step_.roles[role], cost.host, cost.work, label, now[role]);
    now[role] = beside[role] == now[role] ? done : step_.plan.join(std::array{done, beside[role]});
  }
  exchange(layer, exchanges, ExchangeMoment::after, backward, now, part.stage);
}

void StagePasses::forward_layer(const ModelPart& part, std::size_t layer, RankTasks& now) {
  if (!step_.weights_ready.empty()) {
    const RankTasks& there = step_.weights_ready[layer];
    for (const std::size_t role : step_.roles_of(part.stage))
      now[role] = step_.plan.join(std::array{now[role], there[role]});
  }
  const auto cost_of = [](const LayerTime& time) { return Cost{time.host_forward, time.forward}; };
  compute(part, layer, step_.work.layers[layer].forward_exchanges, false, cost_of, forward_labels_[layer], now);
}

RankTasks StagePasses::gather(const ModelPart& part, std::size_t unit, RankTasks& now) {
  double parameters = 0;
  for (std::size_t layer = units_[unit]; layer < units_[unit + 1]; ++layer)
    parameters += parameter_count(step_.work.layers[layer]);
  // Not before as many units as are gathered ahead have been computed.
  RankTasks ready = gathered_.empty() ? now : gathered_;
  const auto ahead = static_cast<std::size_t>(step_.job.parallel.shard.prefetch) + 1;
  if (computed_.size() >= ahead) {
    const RankTasks& before = computed_[computed_.size() - ahead];
    for (const std::size_t role : step_.roles_of(part.stage))
      ready[role] = step_.plan.join(std::array{ready[role], before[role]});
  }
  const Exchange exchange =
      step_.exchange_of(parameters * activation_size(step_.job.precision), "parameter", CodecKind::none);
  gathered_ = step_.collective(GroupKind::shard, part.stage, Collective::all_gather, sharing_algorithm(step_.job),
                               exchange, ready);
  const double ranks = static_cast<double>(step_.shard);
  step_.note_sent("parameter", part.stage, exchange, share_sent(Collective::all_gather, ranks));
  RankTasks started = now;
  for (const std::size_t role : step_.roles_of(part.stage))
    started[role] = step_.plan.join(std::array{now[role], gathered_[role]});
  return started;
}

bool StagePasses::gathers() const { return step_.job.parallel.shard.stage == 3 && step_.shard > 1; }

/// Units of a part, by their numbers; a part begins and ends with a unit.
std::pair<std::size_t, std::size_t> StagePasses::units_of(const ModelPart& part) const {
  const auto first = std::ranges::lower_bound(units_, part.first) - units_.begin();
  const auto last = std::ranges::lower_bound(units_, part.last) - units_.begin();
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

bool StagePasses::recomputed(std::size_t unit) const {
  if (step_.job.parallel.recompute != Recompute::full) return false;
  return !has_blocks_ || starts_block(step_.work.layers[units_[unit]]);
}

RankTasks StagePasses::forward(const ModelPart& part, RankTasks now) {
  if (!gathers()) {
    for (std::size_t layer = part.first; layer < part.last; ++layer) forward_layer(part, layer, now);
    return now;
  }
  const auto [first, last] = units_of(part);
  for (std::size_t unit = first; unit < last; ++unit) {
    now = gather(part, unit, now);
    for (std::size_t layer = units_[unit]; layer < units_[unit + 1]; ++layer) forward_layer(part, layer, now);
    computed_.push_back(now);
  }
  return now;
}

RankTasks StagePasses::gather_sub_batch(const ModelPart& divided, RankTasks now) {
  const Bytes size = *step_.work.layers[divided.first].boundary;
  const Exchange exchange = step_.exchange_of(size, "activation", step_.job.parallel.model.codec);
  const double ranks = static_cast<double>(step_.grid.tensor);
  step_.note_sent("activation", divided.stage, exchange, share_sent(Collective::all_gather, ranks));
  const ExchangeAlgorithm algorithm =
      step_.job.parallel.model.whole ? ExchangeAlgorithm::direct : ExchangeAlgorithm::ring;
  return step_.collective(GroupKind::tensor, divided.stage, Collective::all_gather, algorithm, exchange, now);
}

void StagePasses::backward_layer(const ModelPart& part, std::size_t layer, std::size_t slot, bool parted,
                                 RankTasks& now) {
  const Recompute again = step_.job.parallel.recompute;
  const auto cost_of = [&](const LayerTime& time) {
    Seconds work = time.backward + (again == Recompute::selective   ? time.scores
                                    : again == Recompute::alternate ? time.alternate
                                                                    : Seconds());
    if (parted) work = std::max(Seconds(), work - time.weight_gradients);
    return Cost{time.host_backward, work};
  };
  compute(part, layer, step_.work.layers[layer].backward_exchanges, true, cost_of, backward_labels_[layer], now);
  if (!parted) gradient_is_ready(part, layer, slot, now);
}

void StagePasses::gradient_is_ready(const ModelPart& part, std::size_t layer, std::size_t slot, const RankTasks& now) {
  RankTasks& ready = step_.gradient_ready[slot][layer];
  for (const std::size_t role : step_.roles_of(part.stage))
    ready[role] = ready[role].valid() ? step_.plan.join(std::array{ready[role], now[role]}) : now[role];
}

RankTasks StagePasses::backward(const ModelPart& part, std::size_t slot, bool parted, RankTasks now) {
  if (part.first == part.last) return now;
  const auto [first, last] = units_of(part);
  for (std::size_t unit = last; unit-- > first;) {
    if (gathers()) now = gather(part, unit, now);
    const std::size_t begin = std::max(units_[unit], part.first);
    const std::size_t end = std::min(units_[unit + 1], part.last);
    if (recomputed(unit)) {
      for (std::size_t layer = begin; layer < end; ++layer) forward_layer(part, layer, now);
    }
    for (std::size_t layer = end; layer-- > begin;) backward_layer(part, layer, slot, parted, now);
    if (gathers()) computed_.push_back(now);
  }
  return now;
}

RankTasks StagePasses::weight_gradients(const ModelPart& part, std::size_t slot, RankTasks now) {
  for (std::size_t layer = part.last; layer-- > part.first;) {
    for (const std::size_t role : step_.roles_of(part.stage)) {
      now[role] = add_layer_work(step_, step_.roles[role], Seconds(), step_.time(role, layer).weight_gradients,
                                 backward_labels_[layer], now[role]);
    }
    gradient_is_ready(part, layer, slot, now);
  }
  return now;
}

}  // namespace gpuscale
