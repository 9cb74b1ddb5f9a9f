#include "parallel/piece_sums.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "collective/choose.hpp"
#include "parallel/factor_sums.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

PieceSums::PieceSums(StepBuilder& step)
    : step_(step),
      algorithm_(algorithm_in_force(step.job)),
      pulls_later_(updates_on_server(step.job) && schedule_in_force(step.job) == ExchangeSchedule::fifo) {
  if (algorithm_ != ExchangeAlgorithm::automatic) step.result.algorithm = algorithm_;
  if (box_servers_of(step)) {
    nodes_.emplace(step);
    pulls_later_ = false;
    return;
  }
  if (algorithm_ == ExchangeAlgorithm::parameter_server_gpu) owners_.emplace(step);
  if (algorithm_ != ExchangeAlgorithm::parameter_server_cpu) return;
  if (!step.exchanges.has_other_lane()) step.exchanges.add_other_lane(step.plan.add_lane("parameter server"));
  server_ = step.cluster.topology.host_memory(step.cluster.ranks.front());
}

void PieceSums::arrange(std::vector<Bucket>& pieces, int stage) {
  if (!is_server(algorithm_)) return;
  const TensorOwner rule = step_.job.framework.exchange.owner;
  if (nodes_) return nodes_->arrange(pieces, rule);
  assign_owners(pieces, rule, step_.exchanges.group_size(step_.groups(GroupKind::copies, stage)));
}

bool PieceSums::travels(const Bucket& bucket) const {
  return step_.group_size(groups_of(bucket)) >= 2 || updates_on_server(step_.job);
}

RankTasks PieceSums::add(const Bucket& bucket, int stage, const Exchange& exchange, const RankTasks& ready) {
  const GroupKind groups = groups_of(bucket);
  const bool shared_out = step_.job.parallel.shard.stage > 0 && step_.shard > 1 && groups == GroupKind::copies;
  const bool factors = codec(exchange.codec).sum == CodecSum::factors;
  return shared_out      ? sum_shared_out(stage, exchange, ready)
         : bucket.sparse ? gather_rows(bucket, stage, exchange, ready)
         : factors       ? add_factor_sums(step_, groups, stage, bucket, exchange, ready)
                         : sum(bucket, stage, exchange, ready);
}

/// Nobody waits for others where workers are asynchronous. Split parameters are the same only on the same part of
/// each copy; experts on their copies; others, where layers are split over whole batches, on every rank.
GroupKind PieceSums::groups_of(const Bucket& bucket) const {
  if (step_.job.parallel.asynchronous) return GroupKind::itself;
  if (bucket.expert) return GroupKind::expert_copies;
  const bool by_layers = step_.job.parallel.model.degree > 1;
  return by_layers && !bucket.split ? GroupKind::copies_of_whole : GroupKind::copies;
}

Exchange PieceSums::exchange_of(const Bucket& bucket) {
  const CodecKind asked = step_.job.parallel.exchange.codec;
  const Bytes number = gradient_number(step_.job);
  const bool by_factors = codec(asked).sum == CodecSum::factors;
  const bool shrinks = by_factors ? bucket.matrices.count > 0 : codec(asked).bits_per_value < number.count() * 8.0;
  Exchange exchange = step_.exchange_of(number * bucket.values, "gradient",
                                        shrinks && bucket.coded && !bucket.sparse ? asked : CodecKind::none);
  exchange.values = bucket.values;
  return exchange;
}

/// Each rank gets the sums of its share; where shares are the same in each node, those are summed across nodes.
RankTasks PieceSums::sum_shared_out(int stage, const Exchange& exchange, RankTasks ready) {
  const auto ranks = static_cast<double>(step_.shard);
  note(exchange, stage, share_sent(Collective::reduce_scatter, ranks));
  ready = step_.collective(GroupKind::shard, stage, Collective::reduce_scatter, sharing_algorithm(step_.job), exchange,
                           ready);
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
RankTasks PieceSums::gather_rows(const Bucket& bucket, int stage, Exchange exchange, const RankTasks& ready) {
  if (is_server(algorithm_)) return sum(bucket, stage, exchange, ready);
  const GroupKind groups = groups_of(bucket);
  const double ranks = static_cast<double>(step_.group_size(groups));
  note(exchange, stage, ranks - 1.0);
  exchange.values *= ranks;
  exchange.size = exchange.size * ranks;
  return step_.collective(groups, stage, Collective::all_gather, ExchangeAlgorithm::ring, exchange, ready);
}

RankTasks PieceSums::sum(const Bucket& bucket, int stage, const Exchange& exchange, const RankTasks& ready) {
  const GroupKind groups = groups_of(bucket);
  note_sum(groups, stage, exchange);
  if (nodes_) return nodes_->add(bucket, groups, stage, exchange, ready);
  if (owners_) return owners_->add(bucket, groups, stage, exchange, ready);
  if (moves_whole_tensors(algorithm_)) return sum_by_tensor(groups, stage, exchange, ready);
  note_choice(groups, stage, exchange);
  const bool gathers = algorithm_ == ExchangeAlgorithm::gather;  // whoever sums by gathering has a pass of its own
  return step_.collective(groups, stage, Collective::all_reduce, gathers ? ExchangeAlgorithm::ring : algorithm_,
                          exchange, ready);
}

/// Whole tensors travel, to a server or along a tree.
RankTasks PieceSums::sum_by_tensor(GroupKind groups, int stage, const Exchange& exchange, const RankTasks& ready) {
  if (pulls_later_) pull_later(groups, stage, exchange);
  const auto build = [&](PlanBuilder& plan, const RankGroup& group, const RankTasks& members) {
    switch (algorithm_) {
      case ExchangeAlgorithm::parameter_server_cpu:
        return pulls_later_ ? add_server_push(plan, group, exchange, members, server(group))
                            : add_cpu_server(plan, group, exchange, members, server(group));
      default:
        return add_tree_all_reduce(plan, group, exchange, members);
    }
  };
  const std::string key = fmt::format("{} {} {} {}", name(algorithm_), exchange.size.count(), exchange.values,
                                      static_cast<int>(exchange.codec));
  return step_.exchanges.add(step_.plan, step_.groups(groups, stage), key, build, ready);
}

CpuServer PieceSums::server(const RankGroup& group) const {
  return {.lane = LaneId(group.size()), .updates = server_updates(), .memory = server_};
}

void PieceSums::pull_later(GroupKind groups, int stage, const Exchange& exchange) {
  const auto known =
      std::ranges::find_if(pulls_, [&](const Pull& pull) { return pull.groups == groups && pull.stage == stage; });
  if (known == pulls_.end()) {
    pulls_.push_back({groups, stage, exchange});
  } else {
    known->exchange.size += exchange.size;
    known->exchange.values += exchange.values;
  }
}

RankTasks PieceSums::add_pulls(RankTasks ready) {
  if (owners_) owners_->add_reads(ready);
  for (const Pull& pull : pulls_) {
    const std::string key =
        fmt::format("pull {} {}", pull.exchange.size.count(), static_cast<int>(pull.exchange.codec));
    ready = step_.exchanges.add(
        step_.plan, step_.groups(pull.groups, pull.stage), key,
        [&](PlanBuilder& plan, const RankGroup& group, const RankTasks& members) {
          return add_server_pull(plan, group, pull.exchange, members, server(group));
        },
        ready);
  }
  return ready;
}

/// The report shows what the largest exchange is done by: of a free choice with its reason, and what takes the place of
/// a way that these GPUs do not have.
void PieceSums::note_choice(GroupKind groups, int stage, const Exchange& exchange) {
  if (algorithm_ == ExchangeAlgorithm::gather || exchange.size <= largest_) return;
  largest_ = exchange.size;
  Exchange on_wire = exchange;
  on_wire.size = encoded_size(codec(exchange.codec), exchange.values, exchange.size);
  const RankGroup& group = step_.exchanges.example(step_.groups(groups, stage));
  const ExchangeChoice choice = choose_exchange(group, Collective::all_reduce, on_wire, algorithm_);
  std::string& reason = step_.result.algorithm_reason;
  reason.clear();
  step_.result.algorithm = choice.algorithm;
  if (algorithm_ == ExchangeAlgorithm::automatic) {
    reason = reason_of(group, Collective::all_reduce, on_wire, choice);
  } else if (choice.algorithm != algorithm_) {
    reason = fmt::format("these GPUs have no {}", name(algorithm_));
  }
}

/// Nothing where every GPU updates.
double PieceSums::server_updates() const {
  return updates_on_server(step_.job) ? server_passes(step_.job.optimizer) : 0.0;
}

void PieceSums::note_sum(GroupKind groups, int stage, const Exchange& exchange) {
  const double ranks = static_cast<double>(step_.group_size(groups));
  const bool whole = moves_whole_tensors(algorithm_);
  const double summed = whole ? 1.0 : share_sent(Collective::all_reduce, ranks);
  // Codes that cannot be summed go to everybody; without them the piece would be summed.
  const bool gathered = !whole && codec(exchange.codec).sum == CodecSum::all_gather;
  const Bytes encoded = encoded_size(codec(exchange.codec), exchange.values, exchange.size);
  step_.note_sent("gradient", stage, encoded * (gathered ? ranks - 1.0 : summed), exchange.size * summed, 1.0);
}

}  // namespace gpuscale
