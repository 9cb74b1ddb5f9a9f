#include "collective/all_reduce.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "collective/hops.hpp"
#include "units/check.hpp"

namespace gpuscale {

namespace {

/// A kernel of the codec on each rank's own compute lane. Nothing to do: the tasks stay as they are.
RankTasks add_codec_kernels(PlanBuilder& plan, std::span<const Participant> ranks, const RankTasks& after,
                            std::uint32_t label, const std::function<Seconds(const Participant&)>& time) {
  RankTasks done;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Seconds duration = time(ranks[i]);
    const Work work{.activity = Activity::exchange, .lane = ranks[i].compute, .duration = duration, .label = label};
    done.push_back(duration.count() > 0 ? plan.add(work, {after[i]}) : after[i]);
  }
  return done;
}

/// What every rank sends, as one transfer in lock step.
TaskId add_coupled(PlanBuilder& plan, const RankGroup& group, const Hops& hops, const Exchange& exchange,
                   const RankTasks& ready, Bytes amount, Seconds latency) {
  Transfer transfer;
  transfer.amount = amount;
  transfer.loads = hops.loads;
  transfer.cap = hops.cap;
  transfer.latency = exchange.call + latency;
  transfer.slowed_lanes = group.lanes();
  transfer.slowdown = group.transport().interference;
  transfer.label = exchange.label;
  return plan.add(transfer, ready);
}

/// Steps of a ring that each move 1/N of `wire` between neighbours.
TaskId add_ring_steps(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                      double steps, Bytes wire, Seconds extra) {
  const Hops& hops = group.ring();
  return add_coupled(plan, group, hops, exchange, ready, wire * (steps / group.count()), hops.latency * steps + extra);
}

/// Time of the slowest card for a codec's work on so many numbers.
Seconds slowest(std::span<const Participant> ranks, const std::function<Seconds(const Participant&)>& time) {
  Seconds longest;
  for (const Participant& rank : ranks) longest = std::max(longest, time(rank));
  return longest;
}

/// A sum in which every number is encoded once, reduced in pieces, and decoded once; `move` makes the
/// transfer. Codes that cannot be summed in flight are decoded, added and encoded where pieces meet:
/// each rank does that for (N-1)/N of the numbers.
RankTasks add_encoded_sum(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                          const std::function<TaskId(const RankTasks&, Seconds)>& move) {
  const Codec& code = codec(exchange.codec);
  const double met = exchange.values * (group.count() - 1.0) / group.count();
  const RankTasks encoded = add_codec_kernels(
      plan, group.ranks(), ready, exchange.codec_label,
      [&](const Participant& rank) { return encode_time(code, exchange.values, rank.memory_bandwidth); });
  Seconds meeting;
  if (code.sum == CodecSum::per_hop) {
    meeting = slowest(group.ranks(), [&](const Participant& rank) {
      return encode_time(code, met, rank.memory_bandwidth) + decode_time(code, met, rank.memory_bandwidth);
    });
  }
  const TaskId moved = move(encoded, meeting);
  return add_codec_kernels(
      plan, group.ranks(), RankTasks(group.size(), moved), exchange.codec_label,
      [&](const Participant& rank) { return decode_time(code, exchange.values, rank.memory_bandwidth); });
}

/// Codes that cannot be summed at all: every rank's go to every other, which decodes and adds them.
RankTasks add_gathered_codes(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                             const RankTasks& ready) {
  const Codec& code = codec(exchange.codec);
  const double n = group.count();
  const Bytes wire = encoded_size(code, exchange.values, exchange.size);
  const RankTasks encoded = add_codec_kernels(
      plan, group.ranks(), ready, exchange.codec_label,
      [&](const Participant& rank) { return encode_time(code, exchange.values, rank.memory_bandwidth); });
  const TaskId moved = add_ring_steps(plan, group, exchange, encoded, n - 1.0, wire * n, Seconds());
  return add_codec_kernels(
      plan, group.ranks(), RankTasks(group.size(), moved), exchange.codec_label,
      [&](const Participant& rank) { return decode_time(code, exchange.values * n, rank.memory_bandwidth); });
}

}  // namespace

RankTasks add_ring_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                              const RankTasks& ready) {
  if (group.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  if (code.sum == CodecSum::all_gather) return add_gathered_codes(plan, group, exchange, ready);
  const Bytes wire = encoded_size(code, exchange.values, exchange.size);
  return add_encoded_sum(plan, group, exchange, ready, [&](const RankTasks& encoded, Seconds meeting) {
    return add_ring_steps(plan, group, exchange, encoded, 2.0 * (group.count() - 1.0), wire, meeting);
  });
}

RankTasks add_direct_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                                const RankTasks& ready) {
  if (group.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  if (code.sum == CodecSum::all_gather) return add_gathered_codes(plan, group, exchange, ready);
  const Bytes sent = encoded_size(code, exchange.values, exchange.size) * (2.0 * (group.count() - 1.0) / group.count());
  const Hops& hops = group.pairs();
  return add_encoded_sum(plan, group, exchange, ready, [&](const RankTasks& encoded, Seconds meeting) {
    return add_coupled(plan, group, hops, exchange, encoded, sent, hops.latency * 2.0 + meeting);
  });
}

RankTasks add_stepwise_ring_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                                       const RankTasks& ready) {
  check(exchange.codec == CodecKind::none, "the stepwise ring has no codec");
  const std::size_t n = group.size();
  if (n < 2) return ready;
  RankTasks before = ready;  // per rank, its last step received
  for (std::size_t step = 0; step < 2 * (n - 1); ++step) {
    RankTasks received(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t next = (i + 1) % n;
      const Hops hops = hop(group.topology(), group.ranks()[i].gpu, group.ranks()[next].gpu, group.transport());
      Transfer transfer;
      transfer.amount = exchange.size / group.count();
      transfer.loads = hops.loads;
      transfer.cap = hops.cap;
      transfer.latency = hops.latency + (step == 0 ? exchange.call : Seconds());
      transfer.slowed_lanes.push_back(group.ranks()[i].compute);
      transfer.slowdown = group.transport().interference;
      transfer.label = exchange.label;
      received[next] = plan.add(transfer, {before[i], before[next]});
    }
    before = received;
  }
  return before;
}

RankTasks add_all_gather(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready) {
  if (group.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  const double n = group.count();
  const Bytes wire = encoded_size(code, exchange.values, exchange.size);
  const RankTasks encoded = add_codec_kernels(
      plan, group.ranks(), ready, exchange.codec_label,
      [&](const Participant& rank) { return encode_time(code, exchange.values / n, rank.memory_bandwidth); });
  const TaskId moved = add_ring_steps(plan, group, exchange, encoded, n - 1.0, wire, Seconds());
  return add_codec_kernels(plan, group.ranks(), RankTasks(group.size(), moved), exchange.codec_label,
                           [&](const Participant& rank) {
                             return decode_time(code, exchange.values * (n - 1.0) / n, rank.memory_bandwidth);
                           });
}

RankTasks add_reduce_scatter(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                             const RankTasks& ready) {
  if (group.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  const double n = group.count();
  const double sent = exchange.values * (n - 1.0) / n;
  const Bytes wire = encoded_size(code, exchange.values, exchange.size);
  const RankTasks encoded =
      add_codec_kernels(plan, group.ranks(), ready, exchange.codec_label,
                        [&](const Participant& rank) { return encode_time(code, sent, rank.memory_bandwidth); });
  const TaskId moved = add_ring_steps(plan, group, exchange, encoded, n - 1.0, wire, Seconds());
  return add_codec_kernels(plan, group.ranks(), RankTasks(group.size(), moved), exchange.codec_label,
                           [&](const Participant& rank) { return decode_time(code, sent, rank.memory_bandwidth); });
}

TaskId add_send(PlanBuilder& plan, const RankGroup& pair, const Exchange& exchange, TaskId ready) {
  const Codec& code = codec(exchange.codec);
  const Hops hops = hop(pair.topology(), pair.ranks()[0].gpu, pair.ranks()[1].gpu, pair.transport());
  const RankTasks encoded = add_codec_kernels(
      plan, pair.ranks().first(1), {ready}, exchange.codec_label,
      [&](const Participant& rank) { return encode_time(code, exchange.values, rank.memory_bandwidth); });
  Transfer transfer;
  transfer.amount = encoded_size(code, exchange.values, exchange.size);
  transfer.loads = hops.loads;
  transfer.cap = hops.cap;
  transfer.latency = exchange.call + hops.latency;
  transfer.slowed_lanes = pair.lanes();
  transfer.slowdown = pair.transport().interference;
  transfer.label = exchange.label;
  const TaskId moved = plan.add(transfer, encoded);
  return add_codec_kernels(
             plan, pair.ranks().subspan(1, 1), {moved}, exchange.codec_label,
             [&](const Participant& rank) { return decode_time(code, exchange.values, rank.memory_bandwidth); })
      .front();
}

}  // namespace gpuscale
