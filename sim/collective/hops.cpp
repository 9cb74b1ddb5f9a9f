#include "collective/hops.hpp"

#include <algorithm>

namespace gpuscale {

void Hops::add(const Topology& topology, DeviceId from, DeviceId to, const Transport& transport, double weight) {
  const Route& route = topology.route(from, to);
  for (const ChannelId channel : route.channels) {
    const auto position = std::ranges::lower_bound(loads, channel, {}, &ChannelLoad::channel);
    if (position != loads.end() && position->channel == channel) {
      position->weight += weight;
    } else {
      loads.insert(position, {channel, weight});
    }
  }
  const std::optional<BytesPerSecond>& ceiling = route.staged ? transport.staged_rate : transport.direct_rate;
  const bool has_ceiling = ceiling.has_value() && !route.over_nvlink;
  if (has_ceiling) cap = std::min(cap, *ceiling / weight);
  latency = std::max(latency, route.latency + transport.message);
}

Hops hop(const Topology& topology, DeviceId from, DeviceId to, const Transport& transport) {
  Hops hops;
  hops.add(topology, from, to, transport);
  return hops;
}

Hops ring_hops(const Topology& topology, std::span<const Participant> ranks, const Transport& transport) {
  Hops hops;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    hops.add(topology, ranks[i].gpu, ranks[(i + 1) % ranks.size()].gpu, transport);
  }
  return hops;
}

Hops all_pairs(const Topology& topology, std::span<const Participant> ranks, const Transport& transport) {
  Hops hops;
  const double share = 1.0 / (static_cast<double>(ranks.size()) - 1.0);
  for (const Participant& from : ranks) {
    for (const Participant& to : ranks) {
      if (from.gpu != to.gpu) hops.add(topology, from.gpu, to.gpu, transport, share);
    }
  }
  return hops;
}

std::vector<LaneId> lanes_of(std::span<const Participant> ranks) {
  std::vector<LaneId> lanes;
  lanes.reserve(ranks.size());
  for (const Participant& rank : ranks) lanes.push_back(rank.compute);
  return lanes;
}

}  // namespace gpuscale
