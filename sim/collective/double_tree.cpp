#include <algorithm>
#include <vector>

#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

/// A child and its parent, `level` legs below the root.
struct TreeEdge {
  std::size_t child;
  std::size_t parent;
  std::size_t level;
};

/// A balanced tree of positions first..last-1 in their order, hung below `parent`.
void grow(std::size_t first, std::size_t last, std::size_t parent, std::size_t level, std::vector<TreeEdge>& edges) {
  if (first >= last) return;
  const std::size_t middle = first + (last - first) / 2;
  if (level > 0) edges.push_back({middle, parent, level});
  grow(first, middle, middle, level + 1, edges);
  grow(middle + 1, last, middle, level + 1, edges);
}

/// What is under way at one step: chunk k crosses level l upward at step depth - l + k, downward at depth + l - 1 + k.
GroupPattern at_step(const std::vector<TreeEdge>& edges, std::size_t ranks, std::size_t depth, std::size_t step,
                     std::size_t chunks) {
  const auto under_way = [&](std::size_t begin) { return step >= begin && step < begin + chunks; };
  GroupPattern result{.pattern = {.channels = {{}, {}}}};
  for (std::size_t tree = 0; tree < 2; ++tree) {
    for (const TreeEdge& edge : edges) {
      const std::size_t child = (edge.child + tree) % ranks;
      const std::size_t parent = (edge.parent + tree) % ranks;
      std::vector<Leg>& legs = result.pattern.channels[tree];
      if (under_way(depth - edge.level)) legs.push_back({.from = child, .to = parent, .weight = 0.5});
      if (under_way(depth + edge.level - 1)) legs.push_back({.from = parent, .to = child, .weight = 0.5});
    }
  }
  return result;
}

}  // namespace

RankTasks add_double_tree(Mover& mover, Collective /*what*/, Bytes size, const RankTasks& ready, Seconds extra) {
  const std::size_t ranks = mover.group().size();
  std::vector<TreeEdge> edges;
  grow(0, ranks, 0, 0, edges);
  const std::size_t depth = std::ranges::max(edges, {}, &TreeEdge::level).level;
  const GroupPattern all = at_step(edges, ranks, depth, 2 * depth - 1, 2 * depth);
  const std::size_t chunks = mover.chunks(mover.step(all), mover.pace(all), size, static_cast<double>(2 * depth - 1));
  const std::size_t steps = 2 * depth + chunks - 1;
  RankTasks done = ready;
  for (std::size_t step = 0; step < steps;) {
    const GroupPattern pattern = at_step(edges, ranks, depth, step, chunks);
    std::size_t same = step + 1;
    while (same < steps && at_step(edges, ranks, depth, same, chunks).pattern == pattern.pattern) ++same;
    done = mover.move(pattern, same - step, size / static_cast<double>(chunks), done,
                      {.opens = step == 0, .extra = step == 0 ? extra : Seconds(), .lock_step = true});
    done.assign(ranks, mover.plan().join(done));
    step = same;
  }
  return done;
}

}  // namespace gpuscale
