#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "study/scaled_hardware.hpp"
#include "study/sensitivity.hpp"
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
  Gpu& gpu = cluster.gpu;
  gpu.matrix[static_cast<std::size_t>(Precision::fp32)] = rate_at(gpu.matrix, job.precision);
  // What a family counts for each byte of a number, and would slow the arithmetic.
  gpu.family.gemm.matrix.picojoule /= 2.0;
  gpu.family.gemm.matrix.operand_rate *= 2.0;
  gpu.family.convolution.matrix.operand_rate *= 2.0;
  job.precision = Precision::fp32;
}

void add_gpu(std::vector<Figure>& figures, const Scenario& scenario) {
  const Gpu& gpu = scenario.cluster.gpu;
  const Precision precision = scenario.job.precision;
  const auto matrix = rate_at(gpu.matrix, precision);
  if (matrix) {
    figures.push_back({.key = "matrix_units",
                       .name = "matrix units",
                       .now = fmt::format("{} ({})", to_text(*matrix), name(precision)),
                       .scale = [](Job&, ClusterSpec& c, double factor) { scale_table(c.gpu.matrix, factor); },
                       .remove = [](Job&, ClusterSpec& c) { c.gpu.matrix = {}; }});
  }
  const auto vector = rate_at(gpu.peak, vector_precision(precision));
  const std::string vector_text = vector ? to_text(*vector) : "-";
  if (matrix) {
    figures.push_back({.key = "flops_without_matrix_units",
                       .name = "FLOP/s without matrix units",
                       .now = vector_text,
                       .scale =
                           [](Job&, ClusterSpec& c, double factor) {
                             c.gpu.matrix = {};
                             scale_table(c.gpu.peak, factor);
                           },
                       .note = "on the card without them"});
  }
  figures.push_back({.key = "flops",
                     .name = matrix ? "FLOP/s of the other units" : "FLOP/s",
                     .now = vector_text,
                     .scale = [](Job&, ClusterSpec& c, double factor) { scale_table(c.gpu.peak, factor); }});
  figures.push_back(
      {.key = "memory_bandwidth",
       .name = "memory bandwidth",
       .now = to_text(gpu.memory_bandwidth),
       .scale = [](Job&, ClusterSpec& c, double factor) { c.gpu.memory_bandwidth = c.gpu.memory_bandwidth * factor; }});
  if (is_16bit(precision)) {
    figures.push_back({.key = "sixteen_bit",
                       .name = "16-bit numbers",
                       .now = std::string(name(precision)),
                       .scale = {},
                       .remove = widen_numbers,
                       .removal_halves = true,
                       .note = "four bytes a number, at the same arithmetic rate"});
  }
  figures.push_back({.key = "clock",
                     .name = "GPU clock",
                     .now = to_text(gpu.boost_clock),
                     .scale = [](Job&, ClusterSpec& c, double factor) {
                       scale_table(c.gpu.peak, factor);
                       scale_table(c.gpu.matrix, factor);
                       c.gpu.boost_clock = c.gpu.boost_clock * factor;
                     }});
  figures.push_back({.key = "memory_size",
                     .name = "memory size",
                     .now = to_text(gpu.memory_size),
                     .scale = [](Job&, ClusterSpec& c, double factor) {
                       c.gpu.memory_size = c.gpu.memory_size * factor;
                       if (c.gpu.fast_memory_size) c.gpu.fast_memory_size = *c.gpu.fast_memory_size * factor;
                     }});
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
