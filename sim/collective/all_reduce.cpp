#include <algorithm>
#include <array>
#include <functional>

#include "collective/all_reduce.hpp"
#include "collective/hops.hpp"
#include "units/check.hpp"

namespace gpuscale {

namespace {

double count(std::span<const Participant> ranks) { return static_cast<double>(ranks.size()); }

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
TaskId add_coupled(PlanBuilder& plan, const Hops& hops, std::span<const Participant> ranks, const Exchange& exchange,
                   const RankTasks& ready, Bytes amount, Seconds latency) {
  Transfer transfer;
  transfer.amount = amount;
  transfer.loads = hops.loads;
  transfer.cap = hops.cap;
  transfer.latency = exchange.call + latency;
  transfer.slowed_lanes = lanes_of(ranks);
  transfer.slowdown = exchange.transport.interference;
  transfer.label = exchange.label;
  return plan.add(transfer, ready);
}

/// Steps of a ring that each move 1/N of `wire` between neighbours.
TaskId add_ring_steps(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                      const Exchange& exchange, const RankTasks& ready, double steps, Bytes wire, Seconds extra) {
  const Hops hops = ring_hops(topology, ranks, exchange.transport);
  return add_coupled(plan, hops, ranks, exchange, ready, wire * (steps / count(ranks)), hops.latency * steps + extra);
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
RankTasks add_encoded_sum(PlanBuilder& plan, std::span<const Participant> ranks, const Exchange& exchange,
                          const RankTasks& ready, const std::function<TaskId(const RankTasks&, Seconds)>& move) {
  const Codec& code = codec(exchange.codec);
  const double met = exchange.values * (count(ranks) - 1.0) / count(ranks);
  const RankTasks encoded = add_codec_kernels(plan, ranks, ready, exchange.codec_label, [&](const Participant& rank) {
    return encode_time(code, exchange.values, rank.memory_bandwidth);
  });
  Seconds meeting;
  if (code.sum == CodecSum::per_hop) {
    meeting = slowest(ranks, [&](const Participant& rank) {
      return encode_time(code, met, rank.memory_bandwidth) + decode_time(code, met, rank.memory_bandwidth);
    });
  }
  const TaskId moved = move(encoded, meeting);
  return add_codec_kernels(plan, ranks, RankTasks(ranks.size(), moved), exchange.codec_label,
                           [&](const Participant& rank) {
                             return decode_time(code, exchange.values, rank.memory_bandwidth);
                           });
}

/// Codes that cannot be summed at all: every rank's go to every other, which decodes and adds them.
RankTasks add_gathered_codes(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                             const Exchange& exchange, const RankTasks& ready) {
  const Codec& code = codec(exchange.codec);
  const double n = count(ranks);
  const Bytes wire = encoded_size(code, exchange.values, exchange.size);
  const RankTasks encoded = add_codec_kernels(plan, ranks, ready, exchange.codec_label, [&](const Participant& rank) {
    return encode_time(code, exchange.values, rank.memory_bandwidth);
  });
  const TaskId moved = add_ring_steps(plan, topology, ranks, exchange, encoded, n - 1.0, wire * n, Seconds());
  return add_codec_kernels(plan, ranks, RankTasks(ranks.size(), moved), exchange.codec_label,
                           [&](const Participant& rank) {
                             return decode_time(code, exchange.values * n, rank.memory_bandwidth);
                           });
}

}  // namespace

RankTasks add_ring_all_reduce(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                              const Exchange& exchange, const RankTasks& ready) {
  if (ranks.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  if (code.sum == CodecSum::all_gather) return add_gathered_codes(plan, topology, ranks, exchange, ready);
  const Bytes wire = encoded_size(code, exchange.values, exchange.size);
  return add_encoded_sum(plan, ranks, exchange, ready, [&](const RankTasks& encoded, Seconds meeting) {
    return add_ring_steps(plan, topology, ranks, exchange, encoded, 2.0 * (count(ranks) - 1.0), wire, meeting);
  });
}

RankTasks add_direct_all_reduce(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                                const Exchange& exchange, const RankTasks& ready) {
  if (ranks.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  if (code.sum == CodecSum::all_gather) return add_gathered_codes(plan, topology, ranks, exchange, ready);
  const Bytes sent = encoded_size(code, exchange.values, exchange.size) * (2.0 * (count(ranks) - 1.0) / count(ranks));
  const Hops hops = all_pairs(topology, ranks, exchange.transport);
  return add_encoded_sum(plan, ranks, exchange, ready, [&](const RankTasks& encoded, Seconds meeting) {
    return add_coupled(plan, hops, ranks, exchange, encoded, sent, hops.latency * 2.0 + meeting);
  });
}

RankTasks add_stepwise_ring_all_reduce(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                                       const Exchange& exchange, const RankTasks& ready) {
  check(exchange.codec == CodecKind::none, "the stepwise ring has no codec");
  const std::size_t n = ranks.size();
  if (n < 2) return ready;
  const Hops all = ring_hops(topology, ranks, exchange.transport);
  RankTasks before = ready;  // per rank, its last step received
  for (std::size_t step = 0; step < 2 * (n - 1); ++step) {
    RankTasks received(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t next = (i + 1) % n;
      const Hops hops = hop(topology, ranks[i].gpu, ranks[next].gpu, exchange.transport);
      Transfer transfer;
      transfer.amount = exchange.size / count(ranks);
      transfer.loads = hops.loads;
      transfer.cap = hops.cap;
      transfer.latency = all.latency + (step == 0 ? exchange.call : Seconds());
      transfer.slowed_lanes = {ranks[i].compute};
      transfer.slowdown = exchange.transport.interference;
      transfer.label = exchange.label;
      received[next] = plan.add(transfer, {before[i], before[next]});
    }
    before = received;
  }
  return before;
}

RankTasks add_all_gather(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                         const Exchange& exchange, const RankTasks& ready) {
  if (ranks.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  const double n = count(ranks);
  const Bytes wire = encoded_size(code, exchange.values, exchange.size);
  const RankTasks encoded = add_codec_kernels(plan, ranks, ready, exchange.codec_label, [&](const Participant& rank) {
    return encode_time(code, exchange.values / n, rank.memory_bandwidth);
  });
  const TaskId moved = add_ring_steps(plan, topology, ranks, exchange, encoded, n - 1.0, wire, Seconds());
  return add_codec_kernels(plan, ranks, RankTasks(ranks.size(), moved), exchange.codec_label,
                           [&](const Participant& rank) {
                             return decode_time(code, exchange.values * (n - 1.0) / n, rank.memory_bandwidth);
                           });
}

RankTasks add_reduce_scatter(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                             const Exchange& exchange, const RankTasks& ready) {
  if (ranks.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  const double n = count(ranks);
  const double sent = exchange.values * (n - 1.0) / n;
  const Bytes wire = encoded_size(code, exchange.values, exchange.size);
  const RankTasks encoded = add_codec_kernels(plan, ranks, ready, exchange.codec_label, [&](const Participant& rank) {
    return encode_time(code, sent, rank.memory_bandwidth);
  });
  const TaskId moved = add_ring_steps(plan, topology, ranks, exchange, encoded, n - 1.0, wire, Seconds());
  return add_codec_kernels(plan, ranks, RankTasks(ranks.size(), moved), exchange.codec_label,
                           [&](const Participant& rank) { return decode_time(code, sent, rank.memory_bandwidth); });
}

TaskId add_send(PlanBuilder& plan, const Topology& topology, const Participant& from, const Participant& to,
                const Exchange& exchange, TaskId ready) {
  const Codec& code = codec(exchange.codec);
  const Hops hops = hop(topology, from.gpu, to.gpu, exchange.transport);
  const std::array ends = {from, to};
  const RankTasks encoded =
      add_codec_kernels(plan, std::span(ends).first(1), {ready}, exchange.codec_label, [&](const Participant& rank) {
        return encode_time(code, exchange.values, rank.memory_bandwidth);
      });
  Transfer transfer;
  transfer.amount = encoded_size(code, exchange.values, exchange.size);
  transfer.loads = hops.loads;
  transfer.cap = hops.cap;
  transfer.latency = exchange.call + hops.latency;
  transfer.slowed_lanes = lanes_of(ends);
  transfer.slowdown = exchange.transport.interference;
  transfer.label = exchange.label;
  const TaskId moved = plan.add(transfer, encoded);
  return add_codec_kernels(plan, std::span(ends).last(1), {moved}, exchange.codec_label, [&](const Participant& rank) {
    return decode_time(code, exchange.values, rank.memory_bandwidth);
  }).front();
}

}  // namespace gpuscale
