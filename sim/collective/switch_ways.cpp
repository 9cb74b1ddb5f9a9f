#include "collective/switch_ways.hpp"

#include <algorithm>
#include <optional>

namespace gpuscale {

namespace {

/// The link of the other direction.
const Link* link_back(const Topology& topology, const Link& link) {
  for (const LinkId id : topology.links_from(link.to)) {
    const Link& back = topology.links()[id.index()];
    if (back.to == link.from && back.kind == link.kind) return &back;
  }
  return nullptr;
}

bool sums(const Topology& topology, const Link& link, DeviceKind kind) {
  return topology.device(link.to).kind == kind && link.exchange != nullptr && link.exchange->in_switch.has_value();
}

std::optional<SwitchWay> way_to_nvswitches(const Topology& topology, DeviceId gpu) {
  const auto rate = [&](const Link& link) { return topology.channels()[link.channel.index()].rate.count(); };
  SwitchWay way;
  double all = 0.0;
  for (const LinkId id : topology.links_from(gpu)) {
    const Link& link = topology.links()[id.index()];
    if (!sums(topology, link, DeviceKind::nvswitch)) continue;
    all += rate(link);
    way.figures = *link.exchange->in_switch;
  }
  if (all <= 0) return std::nullopt;
  for (const LinkId id : topology.links_from(gpu)) {
    const Link& link = topology.links()[id.index()];
    if (!sums(topology, link, DeviceKind::nvswitch)) continue;
    way.up.loads.push_back({link.channel, rate(link) / all});
    if (const Link* back = link_back(topology, link)) way.down.loads.push_back({back->channel, rate(*back) / all});
  }
  return way;
}

std::optional<SwitchWay> way_to_network(const Topology& topology, DeviceId gpu) {
  const DeviceId adapter = topology.adapter(gpu);
  if (!adapter.valid() || !topology.device(gpu).gpudirect) return std::nullopt;
  for (const LinkId id : topology.links_from(adapter)) {
    const Link& link = topology.links()[id.index()];
    if (!sums(topology, link, DeviceKind::network_switch)) continue;
    const Link* back = link_back(topology, link);
    if (back == nullptr) continue;
    SwitchWay way{.figures = *link.exchange->in_switch};
    for (const ChannelId channel : topology.route(gpu, adapter).channels) way.up.loads.push_back({channel, 1.0});
    for (const ChannelId channel : topology.route(adapter, gpu).channels) way.down.loads.push_back({channel, 1.0});
    way.up.loads.push_back({link.channel, 1.0});
    way.down.loads.push_back({back->channel, 1.0});
    return way;
  }
  return std::nullopt;
}

using WayOf = std::optional<SwitchWay> (*)(const Topology&, DeviceId);

void append(Hops& hops, const Hops& more, double weight) {
  for (const ChannelLoad& load : more.loads) hops.loads.push_back({load.channel, load.weight * weight});
}

SwitchWays all_ways(const Topology& topology, std::span<const Participant> ranks, WayOf way_of) {
  SwitchWays all;
  for (const Participant& rank : ranks) {
    std::optional<SwitchWay> way = way_of(topology, rank.gpu);
    if (!way) return {};
    way->up.merge();
    way->down.merge();
    append(all.up, way->up, 1.0);
    append(all.down, way->down, 1.0);
    all.figures.step = std::max(all.figures.step, way->figures.step);
    all.figures.start = std::max(all.figures.start, way->figures.start);
    all.figures.delivered = std::min(all.figures.delivered, way->figures.delivered);
    all.ranks.push_back(std::move(*way));
  }
  all.up.merge();
  all.down.merge();
  return all;
}

}  // namespace

Hops together(const Hops& up, const Hops& down, const SwitchShares& shares) {
  Hops both;
  append(both, up, shares.up);
  append(both, down, shares.down);
  both.merge();
  return both;
}

SwitchWays box_switch_ways(const Topology& topology, std::span<const Participant> ranks) {
  return all_ways(topology, ranks, &way_to_nvswitches);
}

SwitchWays network_switch_ways(const Topology& topology, std::span<const Participant> ranks) {
  return all_ways(topology, ranks, &way_to_network);
}

}  // namespace gpuscale
