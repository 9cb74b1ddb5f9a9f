#include <algorithm>
#include <utility>
#include <vector>

#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kMostPieces = 8;
/// Sums in switches stream: more pieces come nearer to that.
constexpr std::size_t kMostPiecesOfSwitches = 16;

using enum Collective;

/// Whether two moves load a channel both.
bool meet(const Hops& one, const Hops& other) {
  auto at = other.loads.begin();
  for (const ChannelLoad& load : one.loads) {
    while (at != other.loads.end() && at->channel < load.channel) ++at;
    if (at != other.loads.end() && at->channel == load.channel) return true;
  }
  return false;
}

Hops both_ways(const SwitchWays& ways) { return together(ways.up, ways.down, {}); }

/// How the ranks of a box exchange among themselves: by rings, or by NVSwitches that sum where those are faster.
class Inside {
 public:
  Inside(Mover& mover, Collective what, Bytes size)
      : mover_(mover),
        group_(mover.group()),
        count_(static_cast<double>(group_.nodes().front().size())),
        steps_(group_.nodes().front().size() - 1) {
    if (!group_.transport().in_switch || !group_.box_switches().exist()) return;
    // Rings load both ways in both phases. Switches load one way in each, so that the two phases of an all-reduce,
    // of pieces one behind the other, go on at the same time.
    const double phases = what == all_reduce ? 2.0 : 1.0;
    const double share = 1.0 / count_;
    const double both = what == all_reduce ? 1.0 : 0.0;
    const SwitchWays& ways = group_.box_switches();
    const Seconds moving = size / mover_.pace(ways, {.up = 1.0 + both * share, .down = both + share});
    const Seconds by_switch = ways.figures.start + ways.figures.step * phases + moving;
    const Seconds by_ring = (ring_step() + size / count_ * static_cast<double>(steps_) / ring_pace()) * phases;
    switches_ = by_switch < by_ring;
    if (switches_) start_ = ways.figures.start;
  }

  /// Software cost, once an exchange.
  [[nodiscard]] Seconds start() const { return start_; }
  [[nodiscard]] std::size_t most_pieces() const { return switches_ ? kMostPiecesOfSwitches : kMostPieces; }
  /// Latency of one phase.
  [[nodiscard]] Seconds step() const { return switches_ ? group_.box_switches().figures.step : ring_step(); }
  [[nodiscard]] BytesPerSecond pace() const { return switches_ ? switch_pace() : ring_pace(); }
  /// What its moves load.
  [[nodiscard]] Hops hops() const {
    return switches_ ? both_ways(group_.box_switches()) : group_.hops(group_.inside(), mover_.protocol());
  }

  /// A reduce-scatter or an all-gather of `piece` bytes a rank.
  RankTasks move(Collective phase, Bytes piece, const RankTasks& ready, const MoveCost& cost) const {
    if (!switches_) return mover_.move(group_.inside(), steps_, piece / count_, ready, cost);
    const double share = 1.0 / count_;
    const SwitchShares shares =
        phase == all_gather ? SwitchShares{.up = share, .down = 1.0} : SwitchShares{.up = 1.0, .down = share};
    return mover_.move(group_.box_switches(), shares, piece, 1.0, ready, cost);
  }

 private:
  [[nodiscard]] Seconds ring_step() const { return mover_.step(group_.inside()) * static_cast<double>(steps_); }
  [[nodiscard]] BytesPerSecond ring_pace() const { return mover_.pace(group_.inside()); }
  [[nodiscard]] BytesPerSecond switch_pace() const {
    return mover_.pace(group_.box_switches(), {.up = 1.0, .down = 1.0 / count_});
  }

  Mover& mover_;
  const RankGroup& group_;
  double count_;
  std::size_t steps_;
  bool switches_ = false;
  Seconds start_ = {};
};

/// How ranks at equal places of all boxes exchange: by rings, or by network switches that sum.
class Outside {
 public:
  Outside(Mover& mover, Collective what)
      : mover_(mover),
        group_(mover.group()),
        what_(what),
        count_(static_cast<double>(group_.nodes().size())),
        steps_((group_.nodes().size() - 1) * (what == all_reduce ? 2 : 1)),
        switches_(group_.transport().in_network && group_.network_switches().exist()) {}

  [[nodiscard]] Seconds start() const { return switches_ ? group_.network_switches().figures.start : Seconds(); }
  /// Latency of the whole.
  [[nodiscard]] Seconds step() const {
    return switches_ ? group_.network_switches().figures.step * phases()
                     : mover_.step(group_.outside()) * static_cast<double>(steps_);
  }

  [[nodiscard]] Hops hops() const {
    return switches_ ? both_ways(group_.network_switches()) : group_.hops(group_.outside(), mover_.protocol());
  }

  /// Of `piece` bytes a rank.
  RankTasks move(Bytes piece, const RankTasks& ready, const MoveCost& cost) const {
    if (!switches_) return mover_.move(group_.outside(), steps_, piece / count_, ready, cost);
    const double share = 1.0 / count_;
    const SwitchShares shares{.up = what_ == all_gather ? share : 1.0, .down = what_ == reduce_scatter ? share : 1.0};
    return mover_.move(group_.network_switches(), shares, piece, phases(), ready, cost);
  }

 private:
  [[nodiscard]] double phases() const { return what_ == all_reduce ? 2.0 : 1.0; }

  Mover& mover_;
  const RankGroup& group_;
  Collective what_;
  double count_;
  std::size_t steps_;
  bool switches_;
};

}  // namespace

bool has_boxes(const RankGroup& group) {
  const auto& boxes = group.nodes();
  return boxes.size() > 1 && boxes.front().size() > 1 &&
         std::ranges::all_of(boxes, [&](const auto& box) { return box.size() == boxes.front().size(); });
}

RankTasks add_hierarchical(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra) {
  const RankGroup& group = mover.group();
  const auto in_box = static_cast<double>(group.nodes().front().size());
  const Inside inside(mover, what, size);
  const Outside outside(mover, what);
  const std::size_t pieces =
      std::min(inside.most_pieces(), mover.chunks(inside.step() + outside.step(), inside.pace(), size, 2.0));
  const Bytes piece = size / static_cast<double>(pieces);
  RankTasks scattered = ready;
  RankTasks exchanged(group.size());
  RankTasks gathered(group.size());
  // Pieces overlap: gathering one with scattering the next, and both with what goes on outside if links are shared.
  const bool meet_outside = pieces > 1 && meet(inside.hops(), outside.hops());
  const bool meet_inside = meet_outside || (pieces > 1 && what == all_reduce);
  const auto both = [&](const RankTasks& a, const RankTasks& b) { return join_ranks(mover.plan(), {a, b}); };
  MoveCost first{.opens = true, .own = size / group.count(), .extra = extra + inside.start() + outside.start()};
  const auto cost = [&first](bool overlaps) {
    MoveCost own = std::exchange(first, {});
    own.overlaps = overlaps;
    return own;
  };
  for (std::size_t k = 0; k < pieces; ++k) {
    if (what != all_gather) scattered = inside.move(reduce_scatter, piece, scattered, cost(meet_inside));
    exchanged = outside.move(piece / in_box, both(scattered, exchanged), cost(meet_outside));
    if (what != reduce_scatter) gathered = inside.move(all_gather, piece, both(exchanged, gathered), cost(meet_inside));
  }
  return what == reduce_scatter ? exchanged : gathered;
}

}  // namespace gpuscale
