#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

/// Rings cut open at rank 0, so that it is the first or the last of each line.
GroupPattern lines_at_first(const GroupPattern& rings, bool from_first) {
  GroupPattern lines;
  for (const std::vector<Leg>& ring : rings.pattern.channels) {
    std::vector<Leg> line;
    std::size_t at = 0;
    while ((from_first ? ring[at].from : ring[at].to) != 0) ++at;
    if (!from_first) ++at;  // the leg after the one that ends at rank 0 begins the line, less the cut one
    for (std::size_t i = 0; i < ring.size(); ++i) line.push_back(ring[(at + i) % ring.size()]);
    if (from_first) {
      line.pop_back();
    } else {
      line.erase(line.begin());
    }
    lines.pattern.channels.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

RankTasks add_ring(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra) {
  const RankGroup& group = mover.group();
  const std::size_t steps = group.size() - 1;
  const Bytes part = size / group.count();
  switch (what) {
    case Collective::all_reduce:
      return mover.move(group.ring(), 2 * steps, part, ready, {.opens = true, .own = part, .extra = extra});
    case Collective::broadcast:
      return mover.pass_along(lines_at_first(group.ring(), true), size, ready, {.opens = true, .extra = extra});
    case Collective::reduce:
      return mover.pass_along(lines_at_first(group.ring(), false), size, ready, {.opens = true, .extra = extra});
    default:
      return mover.move(group.ring(), steps, part, ready, {.opens = true, .own = part, .extra = extra});
  }
}

}  // namespace gpuscale
