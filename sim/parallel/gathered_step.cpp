#include <array>

#include "collective/all_reduce.hpp"
#include "parallel/step_builder.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

Exchange copy_of(StepBuilder& step, Bytes size, std::string_view what) {
  Exchange exchange;
  exchange.size = size;
  exchange.values = size / activation_size(step.job.precision);
  exchange.call = step.job.framework.exchange.call;
  exchange.label = step.plan.label(what);
  exchange.codec_label = step.plan.label("gradient codec");
  return exchange;
}

/// Layers before the loss run on every rank; the loss runs on the first for the whole batch.
std::size_t loss_layer(const ModelWork& work) { return work.layers.size() - 1; }

void add_layers(StepBuilder& step, bool forward) {
  const std::size_t count = loss_layer(step.work);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t layer = forward ? i : count - 1 - i;
    const LayerTime& time = step.times[layer];
    const std::uint32_t label = step.plan.label(step.work.layers[layer].name + (forward ? " forward" : " backward"));
    for (Rank& rank : step.ranks) {
      add_layer_work(step, rank, forward ? time.host_forward : time.host_backward,
                     forward ? time.forward : time.backward, label);
    }
  }
}

RankTasks last_of(const StepBuilder& step) {
  RankTasks tasks;
  for (const Rank& rank : step.ranks) tasks.push_back(rank.last);
  return tasks;
}

void continue_from(StepBuilder& step, const RankTasks& tasks) {
  for (std::size_t i = 0; i < step.ranks.size(); ++i) {
    step.ranks[i].last = step.plan.join(std::array{step.ranks[i].last, tasks[i]});
  }
}

}  // namespace

void add_gathered_step(StepBuilder& step) {
  const RankGroup& all = step.group(0, step.ranks.size());
  const double others = static_cast<double>(all.size()) - 1.0;
  const Bytes number = activation_size(step.job.precision);
  const auto batch = static_cast<double>(step.work.batch);

  const Exchange parameters = copy_of(step, number * parameter_count(step.work), "parameter broadcast");
  const Exchange inputs = copy_of(step, step.work.input * batch, "batch scatter");
  const TaskId start = step.ranks.front().last;
  const RankTasks scattered = add_broadcast(step.plan, all, inputs, start);
  continue_from(step, add_broadcast(step.plan, all, parameters, step.plan.join(scattered)));
  add_layers(step, true);

  const std::size_t loss = loss_layer(step.work);
  const Bytes output = loss > 0 ? step.work.layers[loss - 1].output : Bytes();
  const Exchange outputs = copy_of(step, output, "output gather");
  const TaskId gathered = add_reduce_to_first(step.plan, all, outputs, last_of(step));
  Rank& first = step.ranks.front();
  const LayerTime& time = step.times[loss];
  add_layer_work(step, first, time.host_forward + time.host_backward, (time.forward + time.backward) * (others + 1.0),
                 step.plan.label("loss of the whole batch"), gathered);
  continue_from(step, add_broadcast(step.plan, all, outputs, first.last));
  add_layers(step, false);

  Exchange gradients = copy_of(step, number * parameter_count(step.work), "gradient exchange");
  gradients.codec = step.job.parallel.exchange.codec;
  const TaskId summed = add_reduce_to_first(step.plan, all, gradients, last_of(step));
  step.note_sent(gradients, 2.0);  // down as gradients, up again as parameters of the next step
  step.result.algorithm = ExchangeAlgorithm::gather;
  step.result.exchanges = 1;
  for (Rank& rank : step.ranks) rank.last = summed;
}

}  // namespace gpuscale
