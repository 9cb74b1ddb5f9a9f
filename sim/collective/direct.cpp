#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

/// Rank 0 to every other, or every other to rank 0.
GroupPattern star(std::size_t ranks, bool from_first) {
  GroupPattern star{.pattern = {.channels = {{}}}};
  for (std::size_t i = 1; i < ranks; ++i) {
    star.pattern.channels.front().push_back({.from = from_first ? 0 : i, .to = from_first ? i : 0});
  }
  return star;
}

}  // namespace

RankTasks add_direct(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra) {
  const RankGroup& group = mover.group();
  const Bytes part = size / group.count();
  const std::size_t others = group.size() - 1;
  const MoveCost cost{.opens = true, .own = part, .extra = extra, .at_once = others};
  switch (what) {
    case Collective::all_reduce:
      return mover.move(group.pairs(), 2, part, ready, cost);
    case Collective::broadcast:
      return mover.move(star(group.size(), true), 1, size, ready, {.opens = true, .extra = extra, .at_once = others});
    case Collective::reduce:
      return mover.move(star(group.size(), false), 1, size, ready, {.opens = true, .extra = extra, .at_once = others});
    case Collective::send:
      return mover.move({.pattern = line_of({0, 1})}, 1, size, ready, {.opens = true, .extra = extra});
    default:
      return mover.move(group.pairs(), 1, part, ready, cost);
  }
}

RankTasks add_one_shot(Mover& mover, Collective /*what*/, Bytes size, const RankTasks& ready, Seconds extra) {
  const RankGroup& group = mover.group();
  return mover.move(group.pairs(), 1, size, ready, {.opens = true, .extra = extra, .at_once = group.size() - 1});
}

}  // namespace gpuscale
