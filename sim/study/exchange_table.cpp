#include "study/exchange_table.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>

#include "collective/algorithms.hpp"
#include "collective/all_reduce.hpp"
#include "collective/choose.hpp"
#include "execution/execute.hpp"
#include "study/validate_collectives.hpp"
#include "topology/cards.hpp"

namespace gpuscale {

namespace {

constexpr double kBytesOfNumber = 4.0;

std::vector<Participant> participants(const ExchangeQuery& query, const Hardware& hardware, const Cluster& cluster) {
  std::vector<std::size_t> ranks = query.ranks;
  if (ranks.empty()) {
    ranks.resize(query.what == Collective::send ? std::min<std::size_t>(2, cluster.ranks.size())
                                                : cluster.ranks.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  }
  std::vector<Participant> result;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Gpu& gpu = card(hardware.cluster, cluster.topology.device(cluster.ranks[ranks[i]]).card);
    result.push_back({.gpu = cluster.ranks[ranks[i]],
                      .compute = LaneId(i),
                      .memory_bandwidth = gpu.memory_bandwidth,
                      .stream_bandwidth = gpu.memory_bandwidth});
  }
  return result;
}

void check_query(const ExchangeQuery& query, const RankGroup& group) {
  if (group.size() < 2) throw std::invalid_argument("an exchange takes at least two GPUs");
  if (query.what == Collective::send && group.size() != 2) {
    throw std::invalid_argument("a send goes from one GPU to another; give two --ranks");
  }
  std::vector<std::string_view> able;
  for (const AlgorithmEntry& entry : exchange_algorithms()) {
    if (!can_do(entry, query.what, group)) continue;
    if (entry.algorithm == query.algorithm) return;
    able.push_back(name(entry.algorithm));
  }
  if (query.algorithm == ExchangeAlgorithm::automatic) return;
  throw std::invalid_argument(fmt::format("{} cannot do {} on these GPUs; there are auto, {}", name(query.algorithm),
                                          name(query.what), fmt::join(able, ", ")));
}

/// With the kernels that encode and decode.
Seconds time_with_codec(const ExchangeQuery& query, const RankGroup& group, Exchange exchange,
                        ExchangeAlgorithm algorithm) {
  PlanBuilder plan;
  for (std::size_t rank = 0; rank < group.size(); ++rank) plan.add_lane(fmt::format("rank {}", rank));
  exchange.label = plan.label(name(query.what));
  exchange.codec_label = plan.label(codec(query.codec).name);
  add_collective(plan, group, query.what, algorithm, exchange, RankTasks(group.size()));
  return group.plan_time(std::move(plan).build());
}

ExchangeRow row_of(const ExchangeQuery& query, const RankGroup& group, Bytes size) {
  Exchange exchange;
  exchange.size = size;
  exchange.values = size.count() / kBytesOfNumber;
  exchange.codec = query.codec;
  Exchange sent = exchange;
  sent.size = encoded_size(codec(query.codec), exchange.values, size);
  const ExchangeChoice choice = choose_exchange(group, query.what, sent, query.algorithm);

  ExchangeRow row;
  row.size = size;
  row.count = std::floor(exchange.values);
  row.time = query.codec == CodecKind::none ? time_alone(group, query.what, sent, choice.algorithm, choice.protocol)
                                            : time_with_codec(query, group, exchange, choice.algorithm);
  row.algorithm_bandwidth = size / row.time;
  row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(query.what, group.count());
  row.algorithm = name(choice.algorithm);
  if (!group.transport().protocols.empty()) {
    row.protocol = has_protocols(choice.algorithm) ? kProtocolNames[static_cast<std::size_t>(choice.protocol)] : "none";
  }
  return row;
}

}  // namespace

BytesPerSecond ExchangeTable::average_bus_bandwidth() const {
  BytesPerSecond sum;
  for (const ExchangeRow& row : rows) sum += row.bus_bandwidth;
  return rows.empty() ? sum : sum / static_cast<double>(rows.size());
}

ExchangeTable exchange_table(const ExchangeQuery& query, const Hardware& hardware, const Cluster& cluster) {
  const RankGroup group(cluster.topology, participants(query, hardware, cluster), hardware.framework.transport,
                        &plan_time);
  check_query(query, group);
  ExchangeTable table;
  table.what = query.what;
  table.machine = hardware.cluster.machine.id;
  table.gpu = cards_in_words(hardware.cluster, &Gpu::id);
  table.unlike = !hardware.cluster.other_cards.empty();
  table.transport = hardware.framework.id;
  table.codec = codec(query.codec).name;
  table.nodes = hardware.cluster.nodes;
  table.ranks = group.size();
  table.provenance = hardware.provenance;
  for (const Bytes size : query.sizes) table.rows.push_back(row_of(query, group, size));
  return table;
}

}  // namespace gpuscale
