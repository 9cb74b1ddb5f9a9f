#include "study/scaled_hardware.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace gpuscale {

namespace {

/// Calls `change` with every link type of a cluster.
template <class Change>
void for_each_link(ClusterSpec& cluster, const Change& change) {
  for (ConnectionSpec& connection : cluster.machine.connections) change(connection.type);
  if (cluster.gpu_bus) change(cluster.gpu_bus->type);
  for (CardKind& other : cluster.other_cards) {
    if (other.bus) change(other.bus->type);
  }
  if (!cluster.fabric) return;
  FabricSpec& fabric = *cluster.fabric;
  change(fabric.link);
  if (fabric.uplink) change(fabric.uplink->type);
  if (fabric.global_link) change(fabric.global_link->type);
  for (ConnectionSpec& connection : fabric.connections) change(connection.type);
}

bool is_of(const LinkType& type, std::string_view kind) { return kind.empty() || type.kind == kind; }

void scale(std::optional<BytesPerSecond>& rate, double factor) {
  if (rate) rate = *rate * factor;
}

void scale_steps(std::optional<LinkProtocol>& protocol, double factor) {
  if (!protocol) return;
  protocol->start = protocol->start * factor;
  protocol->step = protocol->step * factor;
}

}  // namespace

std::vector<std::string> link_kinds(const ClusterSpec& cluster) {
  std::vector<std::string> kinds;
  ClusterSpec copy = cluster;
  for_each_link(copy, [&](const LinkType& type) {
    if (std::ranges::find(kinds, type.kind) == kinds.end()) kinds.push_back(type.kind);
  });
  return kinds;
}

void scale_link_rates(ClusterSpec& cluster, std::string_view kind, double factor) {
  for_each_link(cluster, [&](LinkType& type) {
    if (is_of(type, kind)) type.lane_rate = type.lane_rate * factor;
  });
  for (DeviceSpec& device : cluster.machine.devices) {
    if (kind.empty() || kind == "pcie") scale(device.peer_rate, factor);
    if (kind.empty() || kind == "memory") scale(device.staging_rate, factor);
  }
}

void scale_link_latencies(ClusterSpec& cluster, std::string_view kind, double factor) {
  for_each_link(cluster, [&](LinkType& type) {
    if (!is_of(type, kind)) return;
    type.latency = type.latency * factor;
    if (type.exchange == nullptr) return;
    LinkExchange exchange = *type.exchange;
    for (std::optional<LinkProtocol>& protocol : exchange.protocols) scale_steps(protocol, factor);
    scale_steps(exchange.in_switch, factor);
    type.exchange = std::make_shared<const LinkExchange>(exchange);
  });
}

void scale_host(Framework& framework, double factor) {
  for (Seconds HostCost::*cost : kHostCosts) framework.host.*cost = framework.host.*cost * factor;
}

void scale_exchange_costs(Framework& framework, double factor) {
  Transport& transport = framework.transport;
  for (Seconds* cost : {&framework.exchange.call, &transport.message, &transport.start, &transport.peer,
                        &transport.launch, &transport.launch_peer}) {
    *cost = *cost * factor;
  }
}

void apply_calibration(Job& job, ClusterSpec& cluster) {
  const Calibration factors = job.calibration;
  job.calibration = {};
  job.compute_scale *= factors.streams;
  for (double* efficiency : {&job.framework.kernel_efficiency, &job.framework.attention_efficiency})
    *efficiency *= factors.streams / factors.products;  // of products alone
  scale_host(job.framework, factors.host);
  if (factors.exchange == 1.0) return;
  Transport& transport = job.framework.transport;
  scale_link_rates(cluster, "", 1.0 / factors.exchange);
  scale(transport.direct_rate, 1.0 / factors.exchange);
  scale(transport.staged_rate, 1.0 / factors.exchange);
  scale(transport.staged_crowd, 1.0 / factors.exchange);
  transport.staged_least = transport.staged_least * (1.0 / factors.exchange);
  transport.server_rate = transport.server_rate * (1.0 / factors.exchange);
  scale_link_latencies(cluster, "", factors.exchange);
  scale_exchange_costs(job.framework, factors.exchange);
}

}  // namespace gpuscale
