#include "collective/rank_group.hpp"

#include "collective/rings.hpp"

namespace gpuscale {

const Hops& RankGroup::ring() const {
  if (ring_) return *ring_;
  std::vector<DeviceId> gpus;
  for (const Participant& rank : ranks_) gpus.push_back(rank.gpu);
  const std::vector<Ring> rings = find_rings(*topology_, gpus);
  const double share = 1.0 / static_cast<double>(rings.size());
  Hops& hops = ring_.emplace();
  for (const Ring& ring : rings) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      hops.add(*topology_, gpus[ring[i]], gpus[ring[(i + 1) % ring.size()]], transport_, share);
    }
  }
  return hops;
}

const Hops& RankGroup::pairs() const {
  if (pairs_) return *pairs_;
  const double share = 1.0 / (count() - 1.0);
  Hops& hops = pairs_.emplace();
  for (const Participant& from : ranks_) {
    for (const Participant& to : ranks_) {
      if (from.gpu != to.gpu) hops.add(*topology_, from.gpu, to.gpu, transport_, share);
    }
  }
  return hops;
}

std::vector<LaneId> RankGroup::lanes() const {
  std::vector<LaneId> lanes;
  lanes.reserve(ranks_.size());
  for (const Participant& rank : ranks_) lanes.push_back(rank.compute);
  return lanes;
}

}  // namespace gpuscale
