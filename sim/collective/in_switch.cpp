#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

/// Over the switches of the one box, or over the network from boxes with one rank each; null if neither sums.
const SwitchWays* ways_of(const RankGroup& group) {
  const bool in_box = group.nodes().size() == 1;
  if (!in_box && group.nodes().size() != group.size()) return nullptr;
  if (!(in_box ? group.transport().in_switch : group.transport().in_network)) return nullptr;
  const SwitchWays& ways = in_box ? group.box_switches() : group.network_switches();
  return ways.exist() ? &ways : nullptr;
}

}  // namespace

bool has_summing_switch(const RankGroup& group) { return ways_of(group) != nullptr; }

RankTasks add_in_switch(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra) {
  const RankGroup& group = mover.group();
  const SwitchWays& ways = *ways_of(group);
  // A sum: every rank's tensor goes up, each 1/N of the sum comes down to its owner. A gathering: the reverse.
  const double share = 1.0 / group.count();
  SwitchShares shares = {.up = what == Collective::all_gather ? share : 1.0,
                         .down = what == Collective::reduce_scatter ? share : 1.0};
  // Sums in NVSwitches go to their owners and back; the network sends them to all as they are made.
  if (what == Collective::all_reduce && group.nodes().size() == 1) shares = {1.0 + share, 1.0 + share};
  const double steps = what == Collective::all_reduce ? 2.0 : 1.0;
  return mover.move(ways, shares, size, steps, ready, {.opens = true, .extra = extra + ways.figures.start});
}

}  // namespace gpuscale
