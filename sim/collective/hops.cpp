#include "collective/hops.hpp"

#include <algorithm>
#include <iterator>
#include <map>

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
  const BytesPerSecond most = std::min(cap, held);
  return delivered < 1.0 ? std::min(most, pace(topology) * delivered) : most;
}

double HopCollector::note_parts(const Route& route) {
  if (transport_->protocols.empty()) return 1.0;
  double of_bus = 1.0;
  std::vector<ChannelId> others = route.channels;  // root complexes and host memories, which carry what the bus does
  for (const LinkId id : route.links) {
    const Link& link = topology_->links()[id.index()];
    std::erase(others, link.channel);
    const LinkProtocol* figures = figures_of(link, protocol_);
    if (figures == nullptr || figures->delivered >= 1.0) continue;
    parts_.emplace_back(link.channel, figures->delivered);
    if (link.kind == "pcie") of_bus = std::min(of_bus, figures->delivered);
  }
  if (of_bus < 1.0) {
    for (const ChannelId channel : others) parts_.emplace_back(channel, of_bus);
  }
  return of_bus;
}

HopCost HopCollector::add_way(DeviceId from, DeviceId to, double weight) {
  const Route& route = topology_->route(from, to);
  for (const ChannelId channel : route.channels) hops_.loads.push_back({channel, weight});
  const double part = note_parts(route);
  const std::optional<BytesPerSecond>& most = transport_->direct_rate;
  if (most && !route.staged && !route.over_nvlink) hops_.cap = std::min(hops_.cap, *most / weight * part);
  if (route.staged) {
    staged_[from] += weight;
    staged_part_ = std::min(staged_part_, part);
  }
  hops_.staged = hops_.staged || route.staged;
  return hop_cost(*topology_, route, *transport_, protocol_);
}

void HopCollector::add(DeviceId from, DeviceId to, double weight, DeviceId relay) {
  HopCost cost = add_way(from, relay.valid() ? relay : to, weight);
  if (relay.valid()) {
    const HopCost second = add_way(relay, to, weight);
    cost.step += second.step;
    cost.start = std::max(cost.start, second.start);
  }
  hops_.steps.push_back(cost.step);
  hops_.latency = std::max(hops_.latency, cost.step);
  hops_.start = std::max(hops_.start, cost.start);
}

void HopCollector::hold() {
  std::ranges::sort(parts_);
  auto part = parts_.begin();
  for (const ChannelLoad& load : hops_.loads) {
    while (part != parts_.end() && part->first < load.channel) ++part;
    if (part == parts_.end() || part->first != load.channel) continue;
    hops_.held = std::min(hops_.held, topology_->channels()[load.channel.index()].rate * part->second / load.weight);
  }
}

Hops HopCollector::take() {
  hops_.merge();
  hold();
  const double senders = static_cast<double>(staged_.size());
  for (const auto& [sender, weight] : staged_) {
    if (!transport_->staged_crowd) break;
    const BytesPerSecond all = std::max(*transport_->staged_crowd / senders, transport_->staged_least);
    hops_.cap = std::min(hops_.cap, all / (senders * weight) * staged_part_);
  }
  return std::move(hops_);
}

std::vector<ChannelId> binding_channels(const Topology& topology, std::span<const Hops* const> sets) {
  std::map<ChannelId, std::vector<double>> uses;  // of each channel's rate, per byte of each set
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const ChannelLoad& load : sets[set]->loads) {
      std::vector<double>& use = uses.try_emplace(load.channel, sets.size(), 0.0).first->second;
      use[set] += load.weight / topology.channels()[load.channel.index()].rate.count();
    }
  }
  std::map<std::vector<double>, ChannelId> kept;
  for (const auto& [channel, use] : uses) kept.try_emplace(use, channel);
  if (sets.size() == 1 && !kept.empty()) kept.erase(kept.begin(), std::prev(kept.end()));
  std::vector<ChannelId> channels;
  for (const auto& [use, channel] : kept) channels.push_back(channel);
  std::ranges::sort(channels);
  return channels;
}

Hops only(Hops hops, std::span<const ChannelId> channels) {
  std::erase_if(hops.loads,
                [&](const ChannelLoad& load) { return !std::ranges::binary_search(channels, load.channel); });
  hops.loads.shrink_to_fit();
  return hops;
}

Hops hop(const Topology& topology, DeviceId from, DeviceId to, const Transport& transport, Protocol protocol,
         DeviceId relay) {
  HopCollector collector(topology, transport, protocol);
  collector.add(from, to, 1.0, relay);
  return collector.take();
}

}  // namespace gpuscale
