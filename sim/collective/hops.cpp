#include "collective/hops.hpp"

#include <algorithm>

namespace gpuscale {

namespace {

/// What a link type says of a protocol; what it says of the next heavier one where it does not know this one.
const LinkProtocol* figures_of(const Link& link, Protocol protocol) {
  if (link.exchange == nullptr) return nullptr;
  for (auto i = static_cast<std::size_t>(protocol); i < kProtocolNames.size(); ++i) {
    if (link.exchange->protocols[i]) return &*link.exchange->protocols[i];
  }
  return nullptr;
}

}  // namespace

HopCost hop_cost(const Topology& topology, const Route& route, const Transport& transport, Protocol protocol) {
  HopCost cost{.step = transport.message};
  if (transport.protocols.empty()) {
    cost.step += route.latency;
    return cost;
  }
  Seconds slowest;
  for (const LinkId id : route.links) {
    const Link& link = topology.links()[id.index()];
    const LinkProtocol* figures = figures_of(link, protocol);
    if (figures == nullptr) {
      cost.step += link.latency;
      continue;
    }
    slowest = std::max(slowest, figures->step);
    cost.start = std::max(cost.start, figures->start);
    cost.delivered = std::min(cost.delivered, figures->delivered);
  }
  cost.step += slowest;
  return cost;
}

void Hops::merge() {
  std::ranges::stable_sort(loads, {}, &ChannelLoad::channel);
  std::vector<ChannelLoad> merged;
  for (const ChannelLoad& load : loads) {
    if (!merged.empty() && merged.back().channel == load.channel) {
      merged.back().weight += load.weight;
    } else {
      merged.push_back(load);
    }
  }
  loads = std::move(merged);
}

BytesPerSecond Hops::pace(const Topology& topology) const {
  BytesPerSecond pace = cap;
  for (const ChannelLoad& load : loads) {
    pace = std::min(pace, topology.channels()[load.channel.index()].rate / load.weight);
  }
  return pace;
}

BytesPerSecond Hops::ceiling(const Topology& topology) const {
  return delivered < 1.0 ? std::min(cap, pace(topology) * delivered) : cap;
}

HopCost HopCollector::add_way(DeviceId from, DeviceId to, double weight) {
  const Route& route = topology_->route(from, to);
  for (const ChannelId channel : route.channels) hops_.loads.push_back({channel, weight});
  const std::optional<BytesPerSecond>& most = route.staged ? transport_->staged_rate : transport_->direct_rate;
  if (most.has_value() && !route.over_nvlink) hops_.cap = std::min(hops_.cap, *most / weight);
  if (route.staged) staged_[from] += weight;
  hops_.staged = hops_.staged || route.staged;
  return hop_cost(*topology_, route, *transport_, protocol_);
}

void HopCollector::add(DeviceId from, DeviceId to, double weight, DeviceId relay) {
  HopCost cost = add_way(from, relay.valid() ? relay : to, weight);
  if (relay.valid()) {
    const HopCost second = add_way(relay, to, weight);
    cost.step += second.step;
    cost.start = std::max(cost.start, second.start);
    cost.delivered = std::min(cost.delivered, second.delivered);
  }
  hops_.steps.push_back(cost.step);
  hops_.latency = std::max(hops_.latency, cost.step);
  hops_.start = std::max(hops_.start, cost.start);
  hops_.delivered = std::min(hops_.delivered, cost.delivered);
}

Hops HopCollector::take() {
  hops_.merge();
  const double senders = static_cast<double>(staged_.size());
  for (const auto& [sender, weight] : staged_) {
    if (transport_->staged_crowd)
      hops_.cap = std::min(hops_.cap, *transport_->staged_crowd / (senders * senders * weight));
  }
  return std::move(hops_);
}

Hops hop(const Topology& topology, DeviceId from, DeviceId to, const Transport& transport, Protocol protocol,
         DeviceId relay) {
  HopCollector collector(topology, transport, protocol);
  collector.add(from, to, 1.0, relay);
  return collector.take();
}

}  // namespace gpuscale
