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

}  // namespace gpuscale
