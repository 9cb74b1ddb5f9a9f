#include <array>

#include "collective/all_reduce.hpp"
#include "parallel/step_builder.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

enum class Direction { forward, backward };

/// The activation exchange of a split layer. Forward: every rank gets the outputs of the others.
/// Backward: partial errors of the inputs are added up; a rank needs those of its own part only when
/// the layer that made them is split as well.
void exchange_activations(StepBuilder& step, std::size_t layer, Direction direction, bool all_need_everything) {
  const SplitExchange& split = *step.work.layers[layer].split;
  const Bytes size = direction == Direction::forward ? split.forward_gather : split.backward_reduce;
  if (size.count() <= 0) return;
  const auto degree = static_cast<std::size_t>(step.grid.model);
  const double share = (static_cast<double>(degree) - 1.0) / static_cast<double>(degree);
  Exchange exchange;
  exchange.size = size / static_cast<double>(split.rounds);
  exchange.values = exchange.size / activation_size(step.job.precision);
  exchange.codec = step.job.parallel.model.codec;
  exchange.call = step.job.framework.exchange.call;
  exchange.label = step.plan.label("activation exchange");
  exchange.codec_label = step.plan.label("activation codec");
  for (std::size_t first = 0; first < step.ranks.size(); first += degree) {
    const RankGroup& group = step.group(first, degree);
    RankTasks done;
    for (std::size_t i = 0; i < degree; ++i) done.push_back(step.ranks[first + i].last);
    for (std::int64_t round = 0; round < split.rounds; ++round) {
      if (direction == Direction::backward) {
        done = add_reduce_scatter(step.plan, group, exchange, done);
      }
      if (direction == Direction::forward || all_need_everything) {
        done = add_all_gather(step.plan, group, exchange, done);
      }
    }
    for (std::size_t i = 0; i < degree; ++i) step.ranks[first + i].last = done[i];
  }
  const bool both = direction == Direction::backward && all_need_everything;
  step.note_sent(exchange, share * static_cast<double>(split.rounds) * (both ? 2.0 : 1.0));
}

/// Whether the nearest earlier layer with parameters is split: then each rank needs the errors of its
/// own outputs only.
bool split_before(const ModelWork& work, std::size_t layer) {
  while (layer-- > 0) {
    if (!work.layers[layer].parameters.empty()) return work.layers[layer].split.has_value();
  }
  return false;
}

void add_forward(StepBuilder& step, std::span<const std::uint32_t> labels) {
  for (std::size_t layer = 0; layer < step.work.layers.size(); ++layer) {
    for (Rank& rank : step.ranks) {
      add_layer_work(step, rank, step.times[layer].host_forward, step.times[layer].forward, labels[layer]);
    }
    if (step.work.layers[layer].split) exchange_activations(step, layer, Direction::forward, true);
  }
}

void add_backward(StepBuilder& step, std::span<const std::uint32_t> labels) {
  for (std::size_t layer = step.work.layers.size(); layer-- > 0;) {
    for (std::size_t i = 0; i < step.ranks.size(); ++i) {
      Rank& rank = step.ranks[i];
      add_layer_work(step, rank, step.times[layer].host_backward, step.times[layer].backward, labels[layer]);
      TaskId& ready = step.gradient_ready[layer][i];  // complete when every sub-batch has added its part
      ready = ready.valid() ? step.plan.join(std::array{ready, rank.last}) : rank.last;
    }
    if (step.work.layers[layer].split) {
      exchange_activations(step, layer, Direction::backward, !split_before(step.work, layer));
    }
  }
}

}  // namespace

void add_forward_and_backward(StepBuilder& step) {
  std::vector<std::uint32_t> forward_labels;
  std::vector<std::uint32_t> backward_labels;
  for (const LayerWork& layer : step.work.layers) {
    forward_labels.push_back(step.plan.label(layer.name + " forward"));
    backward_labels.push_back(step.plan.label(layer.name + " backward"));
  }
  step.gradient_ready.assign(step.work.layers.size(), RankTasks(step.ranks.size()));
  // A sub-batch follows its own chain, so that its activations travel while the next one computes.
  std::vector<RankTasks> chains;
  const auto begin_pass = [&step](const RankTasks& chain) {
    for (std::size_t i = 0; i < step.ranks.size(); ++i) step.ranks[i].last = chain[i];
  };
  const auto chain_now = [&step] {
    RankTasks chain;
    for (const Rank& rank : step.ranks) chain.push_back(rank.last);
    return chain;
  };
  const RankTasks start = chain_now();
  for (std::int64_t pass = 0; pass < step.passes; ++pass) {
    begin_pass(start);
    add_forward(step, forward_labels);
    chains.push_back(chain_now());
  }
  std::vector<RankTasks> ends;
  for (std::int64_t pass = 0; pass < step.passes; ++pass) {
    begin_pass(chains[static_cast<std::size_t>(pass)]);
    add_backward(step, backward_labels);
    ends.push_back(chain_now());
  }
  for (std::size_t i = 0; i < step.ranks.size(); ++i) {
    RankTasks of_rank;
    for (const RankTasks& end : ends) of_rank.push_back(end[i]);
    step.ranks[i].last = step.plan.join(of_rank);
  }
}

}  // namespace gpuscale
