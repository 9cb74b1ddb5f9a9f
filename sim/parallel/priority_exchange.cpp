// Credit scheduling of gradients (ByteScheduler, SOSP 2019, after P3, arXiv:1905.03960): tensors are cut into pieces;
// of those that wait, the one nearest the input leaves first while there is credit. Groups of a stage act as one.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "parallel/buckets.hpp"
#include "parallel/piece_sums.hpp"
#include "parallel/step_builder.hpp"

namespace gpuscale {

namespace {

class PriorityExchange {
 public:
  explicit PriorityExchange(StepBuilder& step) : step_(step), sums_(step) {
    const ExchangeConfig& asked = step.job.parallel.exchange;
    const ExchangeHabit& habit = step.job.framework.exchange;
    partition_ = asked.partition.value_or(habit.partition);
    credit_ = asked.credit.value_or(habit.credit);
    each_tensor_ = {.number = gradient_number(step.job),
                    .codec_from = asked.codec == CodecKind::none ? Bytes() : asked.codec_from};
  }

  void add() {
    step_.weights_ready.assign(step_.work.layers.size(), RankTasks(step_.roles.size()));
    std::size_t pieces = 0;
    for (int stage = 0; stage < step_.grid.pipeline; ++stage) {
      const std::vector<std::size_t> layers = layers_of(step_, stage);
      std::vector<Bucket> tensors = cut_buckets(step_.work, layers, each_tensor_);
      sums_.arrange(tensors, stage);
      for (const Bucket& bucket : tensors) pieces += add_tensor(bucket, stage);
      for (const std::size_t layer : layers) update(layer, stage);
    }
    step_.result.exchanges = pieces;
  }

 private:
  GateId gate_of(int stage) {
    const auto found = step_.gates.find(stage);
    return found != step_.gates.end() ? found->second
                                      : step_.gates.emplace(stage, step_.plan.add_gate(credit_.count())).first->second;
  }

  /// \returns in how many pieces it travels
  std::size_t add_tensor(const Bucket& bucket, int stage) {
    if (!sums_.travels(bucket)) return 0;
    Exchange exchange = sums_.exchange_of(bucket);
    if (!sums_.in_turn()) return add_whole(bucket, stage, exchange);
    const double pieces = std::max(1.0, std::ceil(exchange.size / partition_));
    exchange.size = exchange.size / pieces;
    exchange.values /= pieces;
    for (std::size_t i = 0; i < static_cast<std::size_t>(pieces); ++i) add_piece(bucket, stage, exchange);
    return static_cast<std::size_t>(pieces);
  }

  /// Once all ranks of the stage have it, and the gate lets it pass.
  void add_piece(const Bucket& bucket, int stage, const Exchange& exchange) {
    const std::vector<std::size_t> roles = step_.roles_of(stage);
    GatePass pass{
        .gate = gate_of(stage), .credit = exchange.size.count(), .urgency = static_cast<int>(bucket.last_layer)};
    RankTasks ready;
    for (const std::size_t role : roles) ready.push_back(step_.gradient_ready.back()[bucket.last_layer][role]);
    const TaskId entered = step_.plan.add(pass, ready);
    const RankTasks done = sums_.add(bucket, stage, exchange, RankTasks(step_.roles.size(), entered));
    pass.returns = true;
    RankTasks ends;
    for (const std::size_t role : roles) ends.push_back(done[role]);
    step_.plan.add(pass, ends);
    note_ready(bucket, stage, done);
  }

  /// Where whole tensors are copied, each copy asks for its turn itself.
  std::size_t add_whole(const Bucket& bucket, int stage, const Exchange& exchange) {
    note_ready(bucket, stage, sums_.add(bucket, stage, exchange, step_.gradient_ready.back()[bucket.last_layer]));
    return 1;
  }

  void note_ready(const Bucket& bucket, int stage, const RankTasks& done) {
    RankTasks& there = step_.weights_ready[bucket.last_layer];
    for (const std::size_t role : step_.roles_of(stage))
      there[role] = step_.plan.join(std::array{there[role], done[role]});
  }

  void update(std::size_t layer, int stage) {
    const bool elsewhere = updates_on_server(step_.job) || updates_on_owner(step_);
    if (step_.work.layers[layer].parameters.empty() || elsewhere) return;
    step_.weights_ready[layer] = add_layer_update(step_, stage, layer, step_.weights_ready[layer]);
  }

  StepBuilder& step_;
  PieceSums sums_;
  Bytes partition_ = {};
  Bytes credit_ = {};
  BucketRule each_tensor_ = {};
};

}  // namespace

void add_priority_exchange(StepBuilder& step) { PriorityExchange(step).add(); }

}  // namespace gpuscale
