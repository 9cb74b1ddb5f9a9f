#include "collective/rank_group.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "collective/box_patterns.hpp"
#include "collective/rail_rings.hpp"
#include "collective/rings.hpp"

namespace gpuscale {

const GroupPattern& RankGroup::ring() const {
  if (ring_) return *ring_;
  std::vector<DeviceId> gpus;
  for (const Participant& rank : ranks_) gpus.push_back(rank.gpu);
  GroupPattern& result = ring_.emplace();
  std::vector<Ring> rings = rail_rings(*topology_, gpus);
  if (rings.empty()) rings = find_rings(*topology_, gpus);
  for (const Ring& ring : rings) {
    std::vector<Leg> legs = ring;
    for (Leg& leg : legs) leg.weight = 1.0 / static_cast<double>(rings.size());
    result.pattern.channels.push_back(std::move(legs));
  }
  return result;
}

const GroupPattern& RankGroup::pairs() const {
  if (!pairs_) pairs_.emplace(GroupPattern{.pattern = all_pairs(size())});
  return *pairs_;
}

const GroupPattern& RankGroup::trees() const {
  if (!trees_) trees_.emplace(GroupPattern{.pattern = double_tree(size())});
  return *trees_;
}

const GroupPattern& RankGroup::inside() const {
  if (!inside_) inside_.emplace(GroupPattern{.pattern = rings_inside(*topology_, ranks_, nodes())});
  return *inside_;
}

const GroupPattern& RankGroup::outside() const {
  if (!outside_) outside_.emplace(GroupPattern{.pattern = rings_outside(nodes())});
  return *outside_;
}

const SwitchWays& RankGroup::box_switches() const {
  if (!box_switches_) box_switches_ = box_switch_ways(*topology_, ranks_);
  return *box_switches_;
}

const SwitchWays& RankGroup::network_switches() const {
  if (!network_switches_) network_switches_ = network_switch_ways(*topology_, ranks_);
  return *network_switches_;
}

const Hops& RankGroup::hops(const GroupPattern& pattern, Protocol protocol) const {
  std::optional<Hops>& hops = pattern.hops[static_cast<std::size_t>(protocol)];
  if (hops) return *hops;
  HopCollector collector(*topology_, transport_, protocol);
  for (const std::vector<Leg>& channel : pattern.pattern.channels) {
    for (const Leg& leg : channel) {
      const DeviceId relay = leg.relay == kNoRank ? DeviceId() : ranks_[leg.relay].gpu;
      collector.add(ranks_[leg.from].gpu, ranks_[leg.to].gpu, leg.weight, relay);
    }
  }
  return hops.emplace(collector.take());
}

std::span<const ChannelId> RankGroup::joint_channels() const {
  if (joint_channels_) return *joint_channels_;
  std::vector<const Hops*> sets;
  const bool equal_boxes =
      std::ranges::all_of(nodes(), [&](const auto& box) { return box.size() == nodes().front().size(); });
  if (nodes().size() > 1 && equal_boxes) {
    for (const GroupPattern* pattern : {&inside(), &outside()}) sets.push_back(&hops(*pattern, Protocol::simple));
  }
  const auto add = [&sets](const SwitchWays& ways) { sets.insert(sets.end(), {&ways.up, &ways.down}); };
  if (transport_.in_switch) add(box_switches());
  if (transport_.in_network) add(network_switches());
  return joint_channels_.emplace(binding_channels(*topology_, sets));
}

const Hops& RankGroup::binding_hops(const GroupPattern& pattern, Protocol protocol) const {
  std::optional<Hops>& thin = pattern.binding[static_cast<std::size_t>(protocol)];
  if (thin) return *thin;
  const auto is = [&pattern](const std::optional<GroupPattern>& own) { return own && &*own == &pattern; };
  const Hops& all = hops(pattern, protocol);
  if (is(inside_) || is(outside_)) return thin.emplace(only(all, joint_channels()));
  if (is(ring_) || is(trees_)) return thin.emplace(only(all, binding_channels(*topology_, std::array{&all})));
  return all;
}

const std::vector<std::vector<std::size_t>>& RankGroup::nodes() const {
  if (!nodes_.empty()) return nodes_;
  std::map<int, std::size_t> places;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto [place, is_new] = places.try_emplace(topology_->device(ranks_[rank].gpu).node, nodes_.size());
    if (is_new) nodes_.emplace_back();
    nodes_[place->second].push_back(rank);
  }
  return nodes_;
}

std::vector<LaneId> RankGroup::lanes() const {
  std::vector<LaneId> lanes;
  lanes.reserve(ranks_.size());
  for (const Participant& rank : ranks_) {
    if (rank.compute.valid()) lanes.push_back(rank.compute);
  }
  return lanes;
}

}  // namespace gpuscale
