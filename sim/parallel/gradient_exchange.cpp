#include <algorithm>
#include <array>

#include "collective/all_reduce.hpp"
#include "collective/choose.hpp"
#include "parallel/buckets.hpp"
#include "parallel/step_builder.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// A gradient number on the wire without a codec.
Bytes gradient_number(const Job& job) {
  const Bytes computed = activation_size(job.precision);
  return job.framework.exchange.compact ? computed : std::max(computed, Bytes(4));
}

BucketRule bucket_rule(const Job& job) {
  const ExchangeHabit& habit = job.framework.exchange;
  const std::optional<Bytes>& asked = job.parallel.exchange.bucket;
  return {.size = asked.value_or(habit.bucket),
          .first_size = asked ? Bytes() : habit.first_bucket,
          .whole_model = habit.whole_model && !asked,
          .number = gradient_number(job)};
}

/// Which ranks sum a piece together: the first one's group, its step to the next member, and how many.
struct Groups {
  std::size_t count;   ///< groups
  std::size_t size;    ///< ranks in each
  std::size_t stride;  ///< from one member to the next
};

/// Split parameters are the same only on the same part of each copy; whole ones on every rank.
Groups groups_of(const RankGrid& grid, const Bucket& bucket) {
  const auto model = static_cast<std::size_t>(grid.model);
  const auto data = static_cast<std::size_t>(grid.data);
  return bucket.split ? Groups{model, data, model} : Groups{1, data * model, 1};
}

class GradientExchange {
 public:
  explicit GradientExchange(StepBuilder& step)
      : step_(step), algorithm_(algorithm_in_force(step.job)), rule_(bucket_rule(step.job)) {
    if (algorithm_ == ExchangeAlgorithm::parameter_server_cpu) {
      server_lane_ = step.plan.add_lane("parameter server");
    }
  }

  void add() {
    const std::vector<Bucket> buckets = cut_buckets(step_.work, rule_);
    const RankTasks backward_done = all_last();
    RankTasks previous(step_.ranks.size());
    for (const Bucket& bucket : buckets) previous = add_bucket(bucket, backward_done, previous);
    for (std::size_t i = 0; i < step_.ranks.size(); ++i) {
      step_.ranks[i].last = step_.plan.join(std::array{backward_done[i], previous[i]});
    }
    step_.result.exchanges = buckets.size();
    if (algorithm_ != ExchangeAlgorithm::automatic) step_.result.algorithm = algorithm_;
  }

 private:
  [[nodiscard]] RankTasks all_last() const {
    RankTasks tasks;
    for (const Rank& rank : step_.ranks) tasks.push_back(rank.last);
    return tasks;
  }

  /// One piece on all its groups. Pieces follow each other: a communicator does one exchange at a time.
  RankTasks add_bucket(const Bucket& bucket, const RankTasks& backward_done, const RankTasks& previous) {
    const Groups groups = groups_of(step_.grid, bucket);
    if (groups.size < 2 && !updates_on_server(step_.job)) return previous;
    const bool overlap = step_.job.parallel.exchange.overlap.value_or(step_.job.framework.exchange.overlap);
    const RankTasks& complete = overlap ? step_.gradient_ready[bucket.last_layer] : backward_done;
    const Exchange exchange = exchange_of(bucket);
    RankTasks done(step_.ranks.size());
    for (std::size_t group = 0; group < groups.count; ++group) {
      const RankGroup& members = step_.group(group, groups.size, groups.stride);
      RankTasks ready;
      for (std::size_t i = 0; i < groups.size; ++i) {
        const std::size_t rank = group + i * groups.stride;
        ready.push_back(step_.plan.join(std::array{complete[rank], previous[rank]}));
      }
      const RankTasks summed = sum(members, exchange, ready, bucket.sparse);
      for (std::size_t i = 0; i < groups.size; ++i) done[group + i * groups.stride] = summed[i];
    }
    note(exchange, groups.size, bucket.sparse);
    return done;
  }

  Exchange exchange_of(const Bucket& bucket) {
    Exchange exchange;
    exchange.values = bucket.values;
    exchange.size = rule_.number * bucket.values;
    const CodecKind asked = step_.job.parallel.exchange.codec;
    const bool shrinks = codec(asked).bits_per_value < rule_.number.count() * 8.0;
    exchange.codec = shrinks && !bucket.sparse ? asked : CodecKind::none;
    exchange.call = step_.job.framework.exchange.call;
    exchange.fidelity = step_.job.parallel.exchange.fidelity;
    exchange.label = step_.plan.label("gradient exchange");
    exchange.codec_label = step_.plan.label("gradient codec");
    return exchange;
  }

  RankTasks sum(const RankGroup& members, const Exchange& exchange, const RankTasks& ready, bool sparse) {
    PlanBuilder& plan = step_.plan;
    switch (algorithm_) {
      case ExchangeAlgorithm::parameter_server_cpu:
        return add_cpu_server(plan, members, exchange, ready, server_lane_, server_updates());
      case ExchangeAlgorithm::parameter_server_gpu:
        return add_gpu_server(plan, members, exchange, ready);
      case ExchangeAlgorithm::tree:
        return add_tree_all_reduce(plan, members, exchange, ready);
      default:
        break;
    }
    if (sparse) return add_all_gather(plan, members, whole_gathered(exchange, members.size()), ready);
    note_choice(members, exchange);
    const bool gathers = algorithm_ == ExchangeAlgorithm::gather;  // whoever sums by gathering has a pass of its own
    return add_collective(plan, members, Collective::all_reduce, gathers ? ExchangeAlgorithm::ring : algorithm_,
                          exchange, ready);
  }

  /// Of a free choice the report shows that for the largest exchange.
  void note_choice(const RankGroup& members, const Exchange& exchange) {
    if (algorithm_ != ExchangeAlgorithm::automatic || exchange.size <= largest_) return;
    largest_ = exchange.size;
    Exchange on_wire = exchange;
    on_wire.size = encoded_size(codec(exchange.codec), exchange.values, exchange.size);
    const ExchangeChoice choice = choose_exchange(members, Collective::all_reduce, on_wire, algorithm_);
    step_.result.algorithm = choice.algorithm;
    step_.result.algorithm_reason = reason_of(members, Collective::all_reduce, on_wire, choice);
  }

  /// Every rank has rows of its own, as large as the exchange: together that many times as much.
  static Exchange whole_gathered(Exchange exchange, std::size_t ranks) {
    exchange.values *= static_cast<double>(ranks);
    exchange.size = exchange.size * static_cast<double>(ranks);
    return exchange;
  }

  /// The optimizer's traffic counted in passes of an addition, which reads two numbers and writes one.
  [[nodiscard]] double server_updates() const {
    if (!updates_on_server(step_.job)) return 0.0;
    return update_traffic(step_.job.optimizer, Precision::fp32, false) / Bytes(12);
  }

  void note(const Exchange& exchange, std::size_t members, bool sparse) {
    const auto n = static_cast<double>(members);
    const bool whole = algorithm_ == ExchangeAlgorithm::parameter_server_cpu ||
                       algorithm_ == ExchangeAlgorithm::parameter_server_gpu || algorithm_ == ExchangeAlgorithm::tree;
    const bool gathered = sparse || codec(exchange.codec).sum == CodecSum::all_gather;
    step_.note_sent(exchange, whole ? 1.0 : gathered ? n - 1.0 : 2.0 * (n - 1.0) / n);
  }

  StepBuilder& step_;
  ExchangeAlgorithm algorithm_;
  BucketRule rule_;
  LaneId server_lane_ = {};
  Bytes largest_ = {};  ///< of the exchanges for which an algorithm was chosen
};

}  // namespace

void add_gradient_exchange(StepBuilder& step) { GradientExchange(step).add(); }

}  // namespace gpuscale
