#include "collective/all_reduce.hpp"

#include <algorithm>
#include <functional>

#include "collective/algorithms.hpp"
#include "collective/choose.hpp"
#include "units/check.hpp"

namespace gpuscale {

namespace {

using TimeOnRank = std::function<Seconds(const Participant&)>;

/// A kernel of the codec on each rank's own compute lane. Nothing to do: the tasks stay as they are.
RankTasks add_codec_kernels(PlanBuilder& plan, std::span<const Participant> ranks, const RankTasks& after,
                            std::uint32_t label, const TimeOnRank& time) {
  RankTasks done;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Seconds duration = time(ranks[i]);
    const Work work{.activity = Activity::exchange, .lane = ranks[i].compute, .duration = duration, .label = label};
    done.push_back(duration.count() > 0 ? plan.add(work, {after[i]}) : after[i]);
  }
  return done;
}

/// Numbers that a rank encodes before an exchange, and decodes after it.
struct CodecWork {
  double encoded = 0;
  double decoded = 0;
  double met = 0;  ///< decoded, added and encoded again on the way
};

CodecWork codec_work(Collective what, double values, double n) {
  switch (what) {
    case Collective::all_reduce:
      return {values, values, values * (n - 1.0) / n};
    case Collective::reduce_scatter:
      return {values * (n - 1.0) / n, values * (n - 1.0) / n, 0};
    case Collective::all_gather:
      return {values / n, values * (n - 1.0) / n, 0};
    default:
      return {values, values, 0};
  }
}

/// Time of the slowest card where pieces meet; nothing if codes add up as they are.
Seconds meeting_time(const RankGroup& group, const Codec& code, double met) {
  Seconds longest;
  if (code.sum != CodecSum::per_hop) return longest;
  for (const Participant& rank : group.ranks()) {
    longest = std::max(longest,
                       encode_time(code, met, rank.memory_bandwidth) + decode_time(code, met, rank.memory_bandwidth));
  }
  return longest;
}

RankTasks add_moves(PlanBuilder& plan, const RankGroup& group, Collective what, const ExchangeChoice& choice,
                    const Exchange& exchange, Bytes wire, const RankTasks& ready, Seconds extra) {
  Mover mover(plan, group, exchange, choice.protocol);
  const auto entries = exchange_algorithms();
  const auto entry = std::ranges::find(entries, choice.algorithm, &AlgorithmEntry::algorithm);
  check(entry != entries.end(), "a chosen algorithm is in the table");
  return add_by(*entry, mover, what, wire, ready, extra);
}

/// Codes that cannot be summed at all: every rank's go to every other, which decodes and adds them.
RankTasks add_gathered_codes(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                             const RankTasks& ready) {
  const Codec& code = codec(exchange.codec);
  const double n = group.count();
  Exchange codes = exchange;
  codes.size = encoded_size(code, exchange.values, exchange.size) * n;
  const ExchangeChoice choice = choose_exchange(group, Collective::all_gather, codes, ExchangeAlgorithm::ring);
  const RankTasks encoded = add_codec_kernels(
      plan, group.ranks(), ready, exchange.codec_label,
      [&](const Participant& rank) { return encode_time(code, exchange.values, rank.memory_bandwidth); });
  const RankTasks moved =
      add_moves(plan, group, Collective::all_gather, choice, exchange, codes.size, encoded, Seconds());
  return add_codec_kernels(plan, group.ranks(), moved, exchange.codec_label, [&](const Participant& rank) {
    return decode_time(code, exchange.values * n, rank.memory_bandwidth);
  });
}

}  // namespace

RankTasks add_collective(PlanBuilder& plan, const RankGroup& group, Collective what, ExchangeAlgorithm algorithm,
                         const Exchange& exchange, const RankTasks& ready) {
  if (group.size() < 2) return ready;
  const Codec& code = codec(exchange.codec);
  if (what == Collective::all_reduce && code.sum == CodecSum::all_gather)
    return add_gathered_codes(plan, group, exchange, ready);
  Exchange on_wire = exchange;
  on_wire.size = encoded_size(code, exchange.values, exchange.size);
  const ExchangeChoice choice = choose_exchange(group, what, on_wire, algorithm);
  const CodecWork work = codec_work(what, exchange.values, group.count());
  const RankTasks encoded = add_codec_kernels(
      plan, group.ranks(), ready, exchange.codec_label,
      [&](const Participant& rank) { return encode_time(code, work.encoded, rank.memory_bandwidth); });
  const RankTasks moved =
      add_moves(plan, group, what, choice, exchange, on_wire.size, encoded, meeting_time(group, code, work.met));
  return add_codec_kernels(plan, group.ranks(), moved, exchange.codec_label, [&](const Participant& rank) {
    return decode_time(code, work.decoded, rank.memory_bandwidth);
  });
}

RankTasks add_all_to_all_v(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                           const std::vector<std::vector<Bytes>>& bytes, const RankTasks& ready) {
  check(bytes.size() == group.size(), "an all-to-all has a row of amounts a rank");
  Bytes largest;
  Bytes own;
  for (std::size_t from = 0; from < group.size(); ++from) {
    check(bytes[from].size() == group.size(), "a row of amounts has one for each rank");
    own = std::max(own, bytes[from][from]);
    for (std::size_t to = 0; to < group.size(); ++to) {
      if (from != to) largest = std::max(largest, bytes[from][to]);
    }
  }
  if (group.size() < 2 || largest.count() <= 0) return ready;
  GroupPattern pattern{.pattern = {.channels = {{}}}};
  std::vector<Leg>& legs = pattern.pattern.channels.front();
  std::size_t most_peers = 0;
  for (std::size_t from = 0; from < group.size(); ++from) {
    const std::size_t before = legs.size();
    for (std::size_t to = 0; to < group.size(); ++to) {
      const double weight = bytes[from][to] / largest;
      if (from != to && weight > 0) legs.push_back({.from = from, .to = to, .weight = weight});
    }
    most_peers = std::max(most_peers, legs.size() - before);
  }
  Exchange whole = exchange;
  whole.size = largest * group.count();
  const ExchangeChoice choice = choose_exchange(group, Collective::all_to_all, whole, ExchangeAlgorithm::direct);
  Mover mover(plan, group, exchange, choice.protocol);
  return mover.move(pattern, 1, largest, ready, {.opens = true, .own = own, .at_once = most_peers, .one_pace = true});
}

RankTasks add_ring_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                              const RankTasks& ready) {
  return add_collective(plan, group, Collective::all_reduce, ExchangeAlgorithm::ring, exchange, ready);
}

RankTasks add_direct_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                                const RankTasks& ready) {
  return add_collective(plan, group, Collective::all_reduce, ExchangeAlgorithm::direct, exchange, ready);
}

RankTasks add_all_gather(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready) {
  return add_collective(plan, group, Collective::all_gather, ExchangeAlgorithm::ring, exchange, ready);
}

RankTasks add_reduce_scatter(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                             const RankTasks& ready) {
  return add_collective(plan, group, Collective::reduce_scatter, ExchangeAlgorithm::ring, exchange, ready);
}

TaskId add_send(PlanBuilder& plan, const RankGroup& pair, const Exchange& exchange, TaskId ready) {
  const Codec& code = codec(exchange.codec);
  Exchange on_wire = exchange;
  on_wire.size = encoded_size(code, exchange.values, exchange.size);
  const ExchangeChoice choice = choose_exchange(pair, Collective::send, on_wire, ExchangeAlgorithm::direct);
  const auto one = [&](std::size_t rank, TaskId after, const TimeOnRank& time) {
    return add_codec_kernels(plan, pair.ranks().subspan(rank, 1), {after}, exchange.codec_label, time).front();
  };
  const TaskId encoded =
      one(0, ready, [&](const Participant& rank) { return encode_time(code, exchange.values, rank.memory_bandwidth); });
  const TaskId moved =
      add_moves(plan, pair, Collective::send, choice, exchange, on_wire.size, {encoded, TaskId()}, Seconds())[1];
  return one(1, moved,
             [&](const Participant& rank) { return decode_time(code, exchange.values, rank.memory_bandwidth); });
}

}  // namespace gpuscale
