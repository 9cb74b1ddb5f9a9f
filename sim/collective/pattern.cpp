#include "collective/pattern.hpp"

namespace gpuscale {

namespace {

/// A balanced tree of positions first..last-1 in their order, hung below `parent`.
void grow(std::size_t first, std::size_t last, std::size_t parent, std::size_t level, std::vector<TreeEdge>& edges) {
  if (first >= last) return;
  const std::size_t middle = first + (last - first) / 2;
  if (level > 0) edges.push_back({middle, parent, level});
  grow(first, middle, middle, level + 1, edges);
  grow(middle + 1, last, middle, level + 1, edges);
}

}  // namespace

Pattern line_of(const std::vector<std::size_t>& ranks) {
  Pattern pattern{.channels = {{}}};
  for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
    pattern.channels.front().push_back({.from = ranks[i], .to = ranks[i + 1]});
  }
  return pattern;
}

std::vector<TreeEdge> balanced_tree(std::size_t ranks) {
  std::vector<TreeEdge> edges;
  grow(0, ranks, 0, 0, edges);
  return edges;
}

Pattern double_tree(std::size_t ranks) {
  Pattern pattern{.channels = {{}, {}}};
  for (std::size_t tree = 0; tree < 2; ++tree) {
    for (const TreeEdge& edge : balanced_tree(ranks)) {
      const std::size_t child = (edge.child + tree) % ranks;
      const std::size_t parent = (edge.parent + tree) % ranks;
      pattern.channels[tree].push_back({.from = child, .to = parent, .weight = 0.5});
      pattern.channels[tree].push_back({.from = parent, .to = child, .weight = 0.5});
    }
  }
  return pattern;
}

Pattern all_pairs(std::size_t ranks) {
  Pattern pattern{.channels = {{}}};
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from != to) pattern.channels.front().push_back({.from = from, .to = to});
    }
  }
  return pattern;
}

}  // namespace gpuscale
