#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "study/scaled_hardware.hpp"
#include "study/sensitivity.hpp"
#include "topology/cards.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

void scale_table(RateTable& table, double factor) {
  for (std::optional<FlopPerSecond>& rate : table) {
    if (rate) rate = *rate * factor;
  }
}

bool is_16bit(Precision precision) { return storage_size(precision) == Bytes(2); }

/// The precision that vector units compute a job in: narrow numbers as fp32.
Precision vector_precision(Precision precision) {
  return precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
}

/// Numbers of four bytes at the arithmetic rate of two, so that only what they occupy changes: memory, links, caches.
void widen_numbers(Job& job, ClusterSpec& cluster) {
  for_each_card(cluster, [&](Gpu& gpu) {
    gpu.matrix[static_cast<std::size_t>(Precision::fp32)] = rate_at(gpu.matrix, job.precision);
    // What a family counts for each byte of a number, and would slow the arithmetic.
    gpu.family.gemm.matrix.picojoule /= 2.0;
    gpu.family.gemm.matrix.operand_rate *= 2.0;
    gpu.family.convolution.matrix.operand_rate *= 2.0;
  });
  job.precision = Precision::fp32;
}

/// A change of a card as one of every card of a cluster, which are better or worse together.
template <class Change>
auto of_each_card(const Change& change) {
  return [change](Job&, ClusterSpec& cluster, double factor) {
    for_each_card(cluster, [&](Gpu& gpu) { change(gpu, factor); });
  };
}

/// A figure of each kind of card: "1.5 GHz", or "1.5 GHz and 1.7 GHz".
template <class Of>
std::string text_of_cards(const ClusterSpec& cluster, const Of& of) {
  std::vector<std::string> texts;
  for (std::size_t kind = 0; kind < card_kinds(cluster); ++kind) {
    const std::string text = of(card(cluster, kind));
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, " and "));
}

void add_gpu(std::vector<Figure>& figures, const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const Precision precision = scenario.job.precision;
  const auto rate_text = [](const std::optional<FlopPerSecond>& rate) { return rate ? to_text(*rate) : "-"; };
  bool matrix = false;
  for (std::size_t kind = 0; kind < card_kinds(cluster); ++kind)
    matrix = matrix || rate_at(card(cluster, kind).matrix, precision);
  if (matrix) {
    const std::string now =
        text_of_cards(cluster, [&](const Gpu& gpu) { return rate_text(rate_at(gpu.matrix, precision)); });
    figures.push_back({.key = "matrix_units",
                       .name = "matrix units",
                       .now = fmt::format("{} ({})", now, name(precision)),
                       .scale = of_each_card([](Gpu& gpu, double factor) { scale_table(gpu.matrix, factor); }),
                       .remove = [](Job&, ClusterSpec& c) { for_each_card(c, [](Gpu& gpu) { gpu.matrix = {}; }); }});
  }
  const std::string vector_text =
      text_of_cards(cluster, [&](const Gpu& gpu) { return rate_text(rate_at(gpu.peak, vector_precision(precision))); });
  if (matrix) {
    figures.push_back({.key = "flops_without_matrix_units",
                       .name = "FLOP/s without matrix units",
                       .now = vector_text,
                       .scale = of_each_card([](Gpu& gpu, double factor) {
                         gpu.matrix = {};
                         scale_table(gpu.peak, factor);
                       }),
                       .note = "of the same card without them"});
  }
  figures.push_back({.key = "flops",
                     .name = matrix ? "FLOP/s outside matrix units" : "FLOP/s",
                     .now = vector_text,
                     .scale = of_each_card([](Gpu& gpu, double factor) { scale_table(gpu.peak, factor); })});
  figures.push_back(
      {.key = "memory_bandwidth",
       .name = "memory bandwidth",
       .now = text_of_cards(cluster, [](const Gpu& gpu) { return to_text(gpu.memory_bandwidth); }),
       .scale = of_each_card([](Gpu& gpu, double factor) { gpu.memory_bandwidth = gpu.memory_bandwidth * factor; })});
  if (is_16bit(precision)) {
    figures.push_back({.key = "sixteen_bit",
                       .name = "16-bit numbers",
                       .now = std::string(name(precision)),
                       .scale = {},
                       .remove = widen_numbers,
                       .removal_halves = true,
                       .note = "else four bytes a number"});
  }
  figures.push_back({.key = "clock",
                     .name = "GPU clock",
                     .now = text_of_cards(cluster, [](const Gpu& gpu) { return to_text(gpu.boost_clock); }),
                     .scale = of_each_card([](Gpu& gpu, double factor) {
                       scale_table(gpu.peak, factor);
                       scale_table(gpu.matrix, factor);
                       gpu.boost_clock = gpu.boost_clock * factor;
                     })});
  figures.push_back({.key = "memory_size",
                     .name = "memory size",
                     .now = text_of_cards(cluster, [](const Gpu& gpu) { return to_text(gpu.memory_size); }),
                     .scale = of_each_card([](Gpu& gpu, double factor) {
                       gpu.memory_size = gpu.memory_size * factor;
                       if (gpu.fast_memory_size) gpu.fast_memory_size = *gpu.fast_memory_size * factor;
                     })});
}

/// What a kind of link is called.
std::string link_name(std::string_view kind) {
  constexpr auto kNames =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"pcie", "PCIe rate"},
                                                                    {"nvlink", "NVLink rate"},
                                                                    {"socket", "rate between sockets"},
                                                                    {"memory", "host memory rate"},
                                                                    {"infiniband", "InfiniBand rate"},
                                                                    {"ethernet", "Ethernet rate"}});
  for (const auto& [word, text] : kNames) {
    if (word == kind) return std::string(text);
  }
  return fmt::format("rate of {} links", kind);
}

/// The slowest and the fastest link of a kind in a box or fabric: "7.88 GB/s" or "3.94 GB/s to 15.8 GB/s".
std::string rates_text(const ClusterSpec& cluster, std::string_view kind) {
  std::optional<BytesPerSecond> least;
  std::optional<BytesPerSecond> most;
  const auto note = [&](const LinkType& type, int lanes) {
    if (type.kind != kind) return;
    const BytesPerSecond rate = type.lane_rate * lanes;
    least = std::min(least.value_or(rate), rate);
    most = std::max(most.value_or(rate), rate);
  };
  for (const ConnectionSpec& connection : cluster.machine.connections) note(connection.type, connection.lanes);
  if (cluster.fabric) note(cluster.fabric->link, cluster.fabric->lanes);
  if (!least) return "-";
  return *least == *most ? to_text(*least) : fmt::format("{} to {}", to_text(*least), to_text(*most));
}

void add_links(std::vector<Figure>& figures, const Scenario& scenario) {
  if (scenario.cluster.gpus < 2 && !scenario.job.input) return;
  for (const std::string& kind : link_kinds(scenario.cluster)) {
    figures.push_back({.key = kind + "_rate",
                       .name = link_name(kind),
                       .now = rates_text(scenario.cluster, kind),
                       .scale = [kind](Job&, ClusterSpec& c, double factor) { scale_link_rates(c, kind, factor); }});
  }
  figures.push_back(
      {.key = "link_latency", .name = "latency of links", .now = "-", .scale = [](Job&, ClusterSpec& c, double factor) {
         scale_link_latencies(c, "", 1.0 / factor);
       }});
}

void add_software(std::vector<Figure>& figures, const Scenario& scenario) {
  figures.push_back({.key = "host_speed",
                     .name = "speed of the host",
                     .now = fmt::format("{} an operator", to_text(scenario.job.framework.host.forward_operator)),
                     .scale = [](Job& job, ClusterSpec&, double factor) { scale_host(job.framework, 1.0 / factor); }});
  if (scenario.cluster.gpus >= 2) {
    figures.push_back(
        {.key = "exchange_cost",
         .name = "software cost of exchanges",
         .now = fmt::format("{} a call", to_text(scenario.job.framework.exchange.call)),
         .scale = [](Job& job, ClusterSpec&, double factor) { scale_exchange_costs(job.framework, 1.0 / factor); }});
  }
  if (!scenario.job.input) return;
  figures.push_back({.key = "input_rate",
                     .name = "storage and decoding",
                     .now = "-",
                     .scale = [](Job& job, ClusterSpec&, double factor) {
                       if (job.input->storage) job.input->storage = *job.input->storage * factor;
                       if (job.input->decode_per_core)
                         job.input->decode_per_core = *job.input->decode_per_core * factor;
                     }});
}

}  // namespace

std::vector<Figure> figures_of(const Scenario& scenario) {
  std::vector<Figure> figures;
  add_gpu(figures, scenario);
  add_links(figures, scenario);
  add_software(figures, scenario);
  return figures;
}

}  // namespace gpuscale
