#include "collective/rank_group.hpp"

#include <map>

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
