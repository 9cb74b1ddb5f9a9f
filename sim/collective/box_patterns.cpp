#include "collective/box_patterns.hpp"

#include "collective/rings.hpp"

namespace gpuscale {

Pattern rings_inside(const Topology& topology, std::span<const Participant> ranks, const RanksByBox& boxes) {
  Pattern result;
  RingFinder finder;
  for (const std::vector<std::size_t>& box : boxes) {
    std::vector<DeviceId> gpus;
    for (const std::size_t rank : box) gpus.push_back(ranks[rank].gpu);
    const std::vector<Ring> rings = finder.rings(topology, gpus);
    for (const Ring& ring : rings) {
      std::vector<Leg>& legs = result.channels.emplace_back();
      for (const Leg& leg : ring) {
        legs.push_back({.from = box[leg.from],
                        .to = box[leg.to],
                        .weight = 1.0 / static_cast<double>(rings.size()),
                        .relay = leg.relay == kNoRank ? kNoRank : box[leg.relay]});
      }
    }
  }
  return result;
}

Pattern rings_outside(const RanksByBox& boxes) {
  Pattern result;
  for (std::size_t place = 0; place < boxes.front().size(); ++place) {
    std::vector<Leg>& legs = result.channels.emplace_back();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      legs.push_back({.from = boxes[i][place], .to = boxes[(i + 1) % boxes.size()][place]});
    }
  }
  return result;
}

}  // namespace gpuscale
