#include <algorithm>
#include <map>
#include <vector>

#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

/// What a rank loads when it talks to the switches that sum: its own NVLinks to them, or its way to the
/// first network switch. Empty if there are none, or they do not sum.
struct WayToSwitch {
  Hops up;
  Hops down;
  LinkProtocol figures;
  bool exists = false;
};

void add_nvlinks(const Topology& topology, DeviceId gpu, WayToSwitch& way) {
  double all = 0.0;
  for (const Link& link : topology.links()) {
    const bool sums = link.exchange != nullptr && link.exchange->in_switch;
    if (!sums || link.from != gpu || topology.device(link.to).kind != DeviceKind::nvswitch) continue;
    all += topology.channels()[link.channel.index()].rate.count();
    way.figures = *link.exchange->in_switch;
    way.exists = true;
  }
  if (!way.exists) return;
  for (const Link& link : topology.links()) {
    const bool forth = link.from == gpu && topology.device(link.to).kind == DeviceKind::nvswitch;
    const bool back = link.to == gpu && topology.device(link.from).kind == DeviceKind::nvswitch;
    if (!forth && !back) continue;
    const double share = topology.channels()[link.channel.index()].rate.count() / all;
    (forth ? way.up : way.down).loads.push_back({link.channel, share});
  }
}

void add_network(const Topology& topology, DeviceId gpu, WayToSwitch& way) {
  for (std::size_t i = 0; i < topology.devices().size() && !way.exists; ++i) {
    const DeviceId hub(i);
    if (topology.device(hub).kind != DeviceKind::network_switch) continue;
    const Route& up = topology.route(gpu, hub);
    const Link& last = topology.links()[up.links.back().index()];
    if (last.exchange == nullptr || !last.exchange->in_switch) continue;
    way.exists = true;
    way.figures = *last.exchange->in_switch;
    for (const ChannelId channel : up.channels) way.up.loads.push_back({channel, 1.0});
    for (const ChannelId channel : topology.route(hub, gpu).channels) way.down.loads.push_back({channel, 1.0});
  }
}

WayToSwitch way_of(const RankGroup& group, std::size_t rank) {
  WayToSwitch way;
  const DeviceId gpu = group.ranks()[rank].gpu;
  const bool one_box = group.nodes().size() == 1 || group.topology().device(gpu).node < 0;
  if (one_box) add_nvlinks(group.topology(), gpu, way);
  if (!one_box && group.nodes().front().size() == 1) add_network(group.topology(), gpu, way);
  way.up.merge();
  way.down.merge();
  return way;
}

void weigh(Hops& hops, double weight) {
  for (ChannelLoad& load : hops.loads) load.weight *= weight;
}

}  // namespace

bool has_summing_switch(const RankGroup& group) {
  if (!group.transport().in_switch) return false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!way_of(group, i).exists) return false;
  }
  return true;
}

RankTasks add_in_switch(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra) {
  const RankGroup& group = mover.group();
  // A sum: every rank's tensor goes up, each 1/N of the sum comes down to its owner. A gathering: the reverse.
  const double share = 1.0 / group.count();
  const double up = (what != Collective::all_gather ? 1.0 : 0.0) + (what != Collective::reduce_scatter ? share : 0.0);
  const double down = (what != Collective::all_gather ? share : 0.0) + (what != Collective::reduce_scatter ? 1.0 : 0.0);
  std::vector<Mover::RankFlow> flows;
  LinkProtocol slowest;
  for (std::size_t i = 0; i < group.size(); ++i) {
    WayToSwitch way = way_of(group, i);
    weigh(way.up, up);
    weigh(way.down, down);
    slowest.step = std::max(slowest.step, way.figures.step);
    slowest.start = std::max(slowest.start, way.figures.start);
    slowest.delivered = std::min(slowest.delivered, way.figures.delivered);
    flows.push_back({i, std::move(way.up), std::move(way.down)});
  }
  const double steps = what == Collective::all_reduce ? 2.0 : 1.0;
  return mover.move_through(flows, size, slowest.step * steps, slowest.delivered, ready,
                            {.opens = true, .extra = extra + slowest.start});
}

}  // namespace gpuscale
