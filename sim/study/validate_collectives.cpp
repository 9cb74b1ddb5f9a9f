#include "study/validate_collectives.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "collective/choose.hpp"
#include "execution/execute.hpp"
#include "scenario/hardware.hpp"
#include "scenario/transport_reader.hpp"
#include "study/message_sizes.hpp"
#include "topology/cluster.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<std::string_view, N>& names, std::string_view word) {
  const auto found = std::ranges::find(names, word);
  return found == names.end() ? std::nullopt
                              : std::optional<std::size_t>(static_cast<std::size_t>(found - names.begin()));
}

std::vector<Participant> participants(const Hardware& hardware, const Cluster& cluster, const std::string& chosen) {
  std::vector<std::size_t> places(cluster.ranks.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (!chosen.empty()) places = read_ranks(chosen, cluster.ranks.size());
  std::vector<Participant> ranks;
  const Gpu& gpu = hardware.cluster.gpu;
  for (const std::size_t place : places) {
    ranks.push_back({.gpu = cluster.ranks[place],
                     .compute = {},
                     .memory_bandwidth = gpu.memory_bandwidth,
                     .stream_bandwidth = gpu.memory_bandwidth * gpu.family.stream.memory});
  }
  return ranks;
}

Seconds time_of(const RankGroup& group, Collective what, const Exchange& exchange, ExchangeAlgorithm algorithm,
                std::string& how) {
  const ExchangeChoice choice = choose_exchange(group, what, exchange, algorithm);
  how = fmt::format("{} {}", name(choice.algorithm), kProtocolNames[static_cast<std::size_t>(choice.protocol)]);
  return time_alone(group, what, exchange, choice.algorithm, choice.protocol);
}

}  // namespace

std::string_view size_class_name(Bytes size) {
  if (size <= kFloorSize) return "collective/floor";
  return size < kLargeSize ? "collective/middle" : "collective/large";
}

double bus_factor(Collective what, double ranks) {
  switch (what) {
    case Collective::all_reduce:
      return 2.0 * (ranks - 1.0) / ranks;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
      return (ranks - 1.0) / ranks;
    default:
      return 1.0;
  }
}

void check_collectives(const MeasuredRow& row, const CheckContext& context, RowResult& result) {
  const Bytes size(row.bytes);
  if (result.class_name.empty()) result.class_name = size_class_name(size);
  result.machine = row.machine;
  const std::optional<std::size_t> what = index_of(kCollectiveNames, row.collective);
  const std::optional<std::size_t> algorithm = index_of(kExchangeAlgorithmNames, row.algorithm);
  if (!what || !algorithm) {
    result.reason = fmt::format("{} is no collective or algorithm", in_quotes(what ? row.algorithm : row.collective));
    return;
  }
  const Hardware hardware = load_hardware(std::nullopt, row.settings, {}, context.library);
  const Transport transport = load_transport(row.transport, context.library);
  const Cluster cluster = build_cluster(hardware.cluster, host_copies(transport));
  if (result.machine.empty()) result.machine = hardware.cluster.machine.id;
  Exchange exchange;
  exchange.size = size;
  exchange.values = size.count() / 4.0;
  const RankGroup group(cluster.topology, participants(hardware, cluster, row.ranks), transport, &plan_time);
  result.gpus = static_cast<int>(group.size());
  const auto collective = static_cast<Collective>(*what);
  std::string how;
  result.time = time_of(group, collective, exchange, static_cast<ExchangeAlgorithm>(*algorithm), how);
  result.time_measured = row.kind == MeasuredKind::rate ? size / BytesPerSecond(row.value * 1e9)
                                                        : Seconds(row.value * context.rule.measured.unit);
  const double factor = bus_factor(collective, group.count()) * size.count();
  result.bus_bandwidth = factor / result.time->count();
  result.bus_bandwidth_measured = factor / result.time_measured->count();
  result.what =
      fmt::format("{} {}, {}x {} ({})", row.collective, to_text(size), result.gpus, hardware.cluster.gpu.id, how);
}

}  // namespace gpuscale
