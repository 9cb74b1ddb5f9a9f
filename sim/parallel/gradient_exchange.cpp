#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include "collective/all_reduce.hpp"
#include "collective/choose.hpp"
#include "parallel/buckets.hpp"
#include "parallel/factor_sums.hpp"
#include "parallel/step_builder.hpp"
#include "workload/lower.hpp"

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

class GradientExchange {
 public:
  explicit GradientExchange(StepBuilder& step)
      : step_(step), algorithm_(algorithm_in_force(step.job)), rule_(bucket_rule(step.job)) {
    if (algorithm_ == ExchangeAlgorithm::parameter_server_cpu) {
      step.exchanges.add_other_lane(step.plan.add_lane("parameter server"));
      server_ = step.cluster.topology.host_memory(step.cluster.ranks.front());
    }
  }

  void add() {
    const RankTasks backward_done = step_.last();
    RankTasks previous(step_.roles.size());
    for (const std::vector<RankTasks>& ready : step_.gradient_ready) {
      for (int stage = 0; stage < step_.grid.pipeline; ++stage) {
        std::vector<std::size_t> layers = layers_of(step_, stage);
        // What every rank computes for the samples of all is complete on every rank.
        if (step_.job.parallel.model.whole)
          std::erase_if(layers, [&](std::size_t layer) { return layer >= step_.undivided; });
        const std::vector<Bucket> buckets = cut_buckets(step_.work, layers, rule_);
        for (const Bucket& bucket : buckets) add_bucket(bucket, stage, ready, backward_done, previous);
        step_.result.exchanges = std::max(step_.result.exchanges, buckets.size() * step_.gradient_ready.size());
      }
    }
    for (const Pull& pull : pulls_) add_pull(pull, previous);
    for (std::size_t i = 0; i < step_.roles.size(); ++i) {
      step_.roles[i].last = step_.plan.join(std::array{backward_done[i], previous[i]});
    }
    if (algorithm_ != ExchangeAlgorithm::automatic) step_.result.algorithm = algorithm_;
  }

 private:
  /// Nobody waits for others where workers are asynchronous. Split parameters are the same only on the same part of
  /// each copy; experts on their copies; others, where layers are split over whole batches, on every rank.
  [[nodiscard]] GroupKind groups_of(const Bucket& bucket) const {
    if (step_.job.parallel.asynchronous) return GroupKind::itself;
    if (bucket.expert) return GroupKind::expert_copies;
    const bool by_layers = step_.job.parallel.model.degree > 1;
    return by_layers && !bucket.split ? GroupKind::copies_of_whole : GroupKind::copies;
  }

  /// One piece on all its groups. Pieces follow each other: a communicator does one exchange at a time.
  void add_bucket(const Bucket& bucket, int stage, const std::vector<RankTasks>& gradient_ready,
                  const RankTasks& backward_done, RankTasks& previous) {
    const GroupKind groups = groups_of(bucket);
    if (step_.group_size(groups) < 2 && !updates_on_server(step_.job)) return;
    const bool overlap = step_.job.parallel.exchange.overlap.value_or(step_.job.framework.exchange.overlap);
    const RankTasks& complete = overlap ? gradient_ready[bucket.last_layer] : backward_done;
    RankTasks ready(step_.roles.size());
    for (const std::size_t role : step_.roles_of(stage)) {
      ready[role] = step_.job.parallel.exchange.delayed ? previous[role]
                                                        : step_.plan.join(std::array{complete[role], previous[role]});
    }
    const Exchange exchange = exchange_of(bucket);
    const bool shared_out = step_.job.parallel.shard.stage > 0 && step_.shard > 1 && groups == GroupKind::copies;
    const bool factors = codec(exchange.codec).sum == CodecSum::factors;
    const RankTasks done = shared_out      ? sum_shared_out(stage, exchange, ready)
                           : bucket.sparse ? gather_rows(groups, stage, exchange, ready)
                           : factors       ? add_factor_sums(step_, groups, stage, bucket, exchange, ready)
                                           : sum(groups, stage, exchange, ready);
    for (const std::size_t role : step_.roles_of(stage)) previous[role] = done[role];
  }

  Exchange exchange_of(const Bucket& bucket) {
    const CodecKind asked = step_.job.parallel.exchange.codec;
    const bool by_factors = codec(asked).sum == CodecSum::factors;
    const bool shrinks =
        by_factors ? bucket.matrices.count > 0 : codec(asked).bits_per_value < rule_.number.count() * 8.0;
    Exchange exchange = step_.exchange_of(rule_.number * bucket.values, "gradient",
                                          shrinks && bucket.coded && !bucket.sparse ? asked : CodecKind::none);
    exchange.values = bucket.values;
    return exchange;
  }

  /// Each rank gets the sums of its share; where shares are the same in each node, those are summed across nodes.
  RankTasks sum_shared_out(int stage, const Exchange& exchange, RankTasks ready) {
    const auto ranks = static_cast<double>(step_.shard);
    note(exchange, stage, share_sent(Collective::reduce_scatter, ranks));
    ready = step_.collective(GroupKind::shard, stage, Collective::reduce_scatter, sharing_algorithm(step_.job),
                             exchange, ready);
    const double copies = static_cast<double>(step_.group_size(GroupKind::shard_copies));
    if (copies < 2) return ready;
    Exchange share = exchange;
    share.size = share.size / ranks;
    share.values /= ranks;
    note(share, stage, share_sent(Collective::all_reduce, copies));
    return step_.collective(GroupKind::shard_copies, stage, Collective::all_reduce, sharing_algorithm(step_.job), share,
                            ready);
  }

  /// Every rank has rows of its own, as large as the exchange: together that many times as much.
  RankTasks gather_rows(GroupKind groups, int stage, Exchange exchange, const RankTasks& ready) {
    const double ranks = static_cast<double>(step_.group_size(groups));
    if (is_server(algorithm_)) return sum(groups, stage, exchange, ready);
    note(exchange, stage, ranks - 1.0);
    exchange.values *= ranks;
    exchange.size = exchange.size * ranks;
    return step_.collective(groups, stage, Collective::all_gather, ExchangeAlgorithm::ring, exchange, ready);
  }

  RankTasks sum(GroupKind groups, int stage, const Exchange& exchange, const RankTasks& ready) {
    note_sum(groups, stage, exchange);
    if (moves_whole_tensors(algorithm_)) return sum_by_tensor(groups, stage, exchange, ready);
    note_choice(groups, stage, exchange);
    const bool gathers = algorithm_ == ExchangeAlgorithm::gather;  // whoever sums by gathering has a pass of its own
    return step_.collective(groups, stage, Collective::all_reduce, gathers ? ExchangeAlgorithm::ring : algorithm_,
                            exchange, ready);
  }

  /// Whole tensors travel, to a server or along a tree.
  RankTasks sum_by_tensor(GroupKind groups, int stage, const Exchange& exchange, const RankTasks& ready) {
    const bool pulls_later = updates_on_server(step_.job);
    if (pulls_later) pull_later(groups, stage, exchange);
    const auto build = [&](PlanBuilder& plan, const RankGroup& group, const RankTasks& members) {
      switch (algorithm_) {
        case ExchangeAlgorithm::parameter_server_cpu:
          return pulls_later ? add_server_push(plan, group, exchange, members, server(group))
                             : add_cpu_server(plan, group, exchange, members, server(group));
        case ExchangeAlgorithm::parameter_server_gpu:
          return add_gpu_server(plan, group, exchange, members);
        default:
          return add_tree_all_reduce(plan, group, exchange, members);
      }
    };
    const std::string key = fmt::format("{} {} {} {}", name(algorithm_), exchange.size.count(), exchange.values,
                                        static_cast<int>(exchange.codec));
    return step_.exchanges.add(step_.plan, step_.groups(groups, stage), key, build, ready);
  }

  /// Updated parameters are read at the beginning of the next step, all at once, by the operators that want them:
  /// nobody computes before (TensorFlow's variables).
  struct Pull {
    GroupKind groups;
    int stage;
    Exchange exchange;
  };

  [[nodiscard]] CpuServer server(const RankGroup& group) const {
    return {.lane = LaneId(group.size()), .updates = server_updates(), .memory = server_};
  }

  void pull_later(GroupKind groups, int stage, const Exchange& exchange) {
    const auto known =
        std::ranges::find_if(pulls_, [&](const Pull& pull) { return pull.groups == groups && pull.stage == stage; });
    if (known == pulls_.end()) {
      pulls_.push_back({groups, stage, exchange});
    } else {
      known->exchange.size += exchange.size;
      known->exchange.values += exchange.values;
    }
  }

  void add_pull(const Pull& pull, RankTasks& previous) {
    const std::string key =
        fmt::format("pull {} {}", pull.exchange.size.count(), static_cast<int>(pull.exchange.codec));
    previous = step_.exchanges.add(
        step_.plan, step_.groups(pull.groups, pull.stage), key,
        [&](PlanBuilder& plan, const RankGroup& group, const RankTasks& members) {
          return add_server_pull(plan, group, pull.exchange, members, server(group));
        },
        previous);
  }

  /// Of a free choice the report shows that for the largest exchange.
  void note_choice(GroupKind groups, int stage, const Exchange& exchange) {
    if (algorithm_ != ExchangeAlgorithm::automatic || exchange.size <= largest_) return;
    largest_ = exchange.size;
    Exchange on_wire = exchange;
    on_wire.size = encoded_size(codec(exchange.codec), exchange.values, exchange.size);
    const RankGroup& group = step_.exchanges.example(step_.groups(groups, stage));
    const ExchangeChoice choice = choose_exchange(group, Collective::all_reduce, on_wire, algorithm_);
    step_.result.algorithm = choice.algorithm;
    step_.result.algorithm_reason = reason_of(group, Collective::all_reduce, on_wire, choice);
  }

  /// The optimizer's traffic counted in passes of an addition, which reads two numbers and writes one.
  [[nodiscard]] double server_updates() const {
    if (!updates_on_server(step_.job)) return 0.0;
    return update_traffic(step_.job.optimizer, Precision::fp32, false) / Bytes(12);
  }

  void note_sum(GroupKind groups, int stage, const Exchange& exchange) {
    const double ranks = static_cast<double>(step_.group_size(groups));
    const bool whole = moves_whole_tensors(algorithm_);
    const bool gathered = codec(exchange.codec).sum == CodecSum::all_gather;
    note(exchange, stage, whole ? 1.0 : gathered ? ranks - 1.0 : share_sent(Collective::all_reduce, ranks));
  }

  void note(const Exchange& exchange, int stage, double share) { step_.note_sent("gradient", stage, exchange, share); }

  StepBuilder& step_;
  ExchangeAlgorithm algorithm_;
  BucketRule rule_;
  std::vector<Pull> pulls_ = {};
  DeviceId server_ = {};  ///< where a parameter server on the CPU keeps the parameters
  Bytes largest_ = {};    ///< of the exchanges for which an algorithm was chosen
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
