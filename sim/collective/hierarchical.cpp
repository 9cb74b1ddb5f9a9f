#include <algorithm>
#include <vector>

#include "collective/algorithms.hpp"
#include "collective/rings.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kMostPieces = 8;

/// The rings inside each box.
GroupPattern rings_inside(const RankGroup& group) {
  GroupPattern result;
  for (const std::vector<std::size_t>& box : group.nodes()) {
    std::vector<DeviceId> gpus;
    for (const std::size_t rank : box) gpus.push_back(group.ranks()[rank].gpu);
    const std::vector<Ring> rings = find_rings(group.topology(), gpus);
    for (const Ring& ring : rings) {
      std::vector<Leg>& legs = result.pattern.channels.emplace_back();
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

/// A ring over all boxes for each place in them, so that every adapter has work.
GroupPattern rings_outside(const RankGroup& group) {
  const auto& boxes = group.nodes();
  GroupPattern result;
  for (std::size_t place = 0; place < boxes.front().size(); ++place) {
    std::vector<Leg>& legs = result.pattern.channels.emplace_back();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      legs.push_back({.from = boxes[i][place], .to = boxes[(i + 1) % boxes.size()][place]});
    }
  }
  return result;
}

}  // namespace

bool has_boxes(const RankGroup& group) {
  const auto& boxes = group.nodes();
  return boxes.size() > 1 && boxes.front().size() > 1 &&
         std::ranges::all_of(boxes, [&](const auto& box) { return box.size() == boxes.front().size(); });
}

RankTasks add_hierarchical(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra) {
  const RankGroup& group = mover.group();
  const auto boxes = static_cast<double>(group.nodes().size());
  const auto in_box = static_cast<double>(group.nodes().front().size());
  const GroupPattern inside = rings_inside(group);
  const GroupPattern outside = rings_outside(group);
  const std::size_t steps_inside = group.nodes().front().size() - 1;
  const std::size_t steps_outside = (group.nodes().size() - 1) * (what == Collective::all_reduce ? 2 : 1);
  const Seconds step =
      mover.step(inside) * static_cast<double>(steps_inside) + mover.step(outside) * static_cast<double>(steps_outside);
  const std::size_t pieces = std::min(kMostPieces, mover.chunks(step, mover.pace(inside), size, 2.0));
  const Bytes piece = size / static_cast<double>(pieces);
  RankTasks scattered = ready;
  RankTasks exchanged(group.size());
  RankTasks gathered(group.size());
  MoveCost cost{.opens = true, .own = size / group.count(), .extra = extra};
  const auto both = [&](const RankTasks& a, const RankTasks& b) { return join_ranks(mover.plan(), {a, b}); };
  for (std::size_t k = 0; k < pieces; ++k) {
    if (what != Collective::all_gather) {
      scattered = mover.move(inside, steps_inside, piece / in_box, scattered, cost);
      cost = {};
    }
    exchanged = mover.move(outside, steps_outside, piece / (in_box * boxes), both(scattered, exchanged), cost);
    cost = {};
    if (what != Collective::reduce_scatter) {
      gathered = mover.move(inside, steps_inside, piece / in_box, both(exchanged, gathered));
    }
  }
  return what == Collective::reduce_scatter ? exchanged : gathered;
}

}  // namespace gpuscale
