#include <algorithm>
#include <array>
#include <vector>

#include "collective/all_reduce.hpp"
#include "parallel/buckets.hpp"
#include "parallel/piece_sums.hpp"
#include "parallel/step_builder.hpp"

namespace gpuscale {

namespace {

BucketRule bucket_rule(const Job& job) {
  const ExchangeHabit& habit = job.framework.exchange;
  const std::optional<Bytes>& asked = job.parallel.exchange.bucket;
  return {.size = asked.value_or(habit.bucket),
          .first_size = asked ? Bytes() : habit.first_bucket,
          .whole_model = habit.whole_model && !asked,
          .number = gradient_number(job),
          .codec_from = job.parallel.exchange.codec == CodecKind::none ? Bytes() : job.parallel.exchange.codec_from};
}

/// Pieces in the order in which backward completes them.
class GradientExchange {
 public:
  explicit GradientExchange(StepBuilder& step) : step_(step), sums_(step), rule_(bucket_rule(step.job)) {}

  void add() {
    const RankTasks backward_done = step_.last();
    RankTasks previous(step_.roles.size());
    for (const std::vector<RankTasks>& ready : step_.gradient_ready) {
      for (int stage = 0; stage < step_.grid.pipeline; ++stage) {
        std::vector<std::size_t> layers = layers_of(step_, stage);
        // What every rank computes for the samples of all is complete on every rank.
        if (step_.job.parallel.model.whole)
          std::erase_if(layers, [&](std::size_t layer) { return layer >= step_.undivided; });
        std::vector<Bucket> buckets = cut_buckets(step_.work, layers, rule_);
        sums_.arrange(buckets, stage);
        for (const Bucket& bucket : buckets) add_bucket(bucket, stage, ready, backward_done, previous);
        step_.result.exchanges = std::max(step_.result.exchanges, buckets.size() * step_.gradient_ready.size());
      }
    }
    previous = sums_.add_pulls(previous);
    for (std::size_t i = 0; i < step_.roles.size(); ++i) {
      step_.roles[i].last = step_.plan.join(std::array{backward_done[i], previous[i]});
    }
  }

 private:
  /// One piece on all its groups. Pieces follow each other, as a communicator does one exchange at a time, unless whole
  /// tensors are copied.
  void add_bucket(const Bucket& bucket, int stage, const std::vector<RankTasks>& gradient_ready,
                  const RankTasks& backward_done, RankTasks& previous) {
    if (!sums_.travels(bucket)) return;
    const bool overlap = step_.job.parallel.exchange.overlap.value_or(step_.job.framework.exchange.overlap);
    const RankTasks& complete = overlap ? gradient_ready[bucket.last_layer] : backward_done;
    RankTasks ready(step_.roles.size());
    for (const std::size_t role : step_.roles_of(stage)) {
      const TaskId turn = sums_.in_turn() ? previous[role] : TaskId();
      const TaskId own = step_.job.parallel.exchange.delayed ? TaskId() : complete[role];
      ready[role] = step_.plan.join(std::array{own, turn});
    }
    const RankTasks done = sums_.add(bucket, stage, sums_.exchange_of(bucket), ready);
    for (const std::size_t role : step_.roles_of(stage))
      previous[role] = sums_.in_turn() ? done[role] : step_.plan.join(std::array{previous[role], done[role]});
  }

  StepBuilder& step_;
  PieceSums sums_;
  BucketRule rule_;
};

}  // namespace

void add_gradient_exchange(StepBuilder& step) { GradientExchange(step).add(); }

void add_parameter_average(StepBuilder& step) {
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    Exchange exchange =
        step.exchange_of(Bytes(4) * parameters_of(step, stage), "average", step.job.parallel.exchange.codec);
    exchange.values = parameters_of(step, stage);
    const double ranks = static_cast<double>(step.group_size(GroupKind::copies));
    step.note_sent("average", stage, exchange, share_sent(Collective::all_reduce, ranks));
    const RankTasks done = step.collective(GroupKind::copies, stage, Collective::all_reduce,
                                           algorithm_in_force(step.job), exchange, step.last());
    for (const std::size_t role : step.roles_of(stage)) step.roles[role].last = done[role];
  }
}

}  // namespace gpuscale
