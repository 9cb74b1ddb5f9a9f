#include "collective/pattern.hpp"

#include <algorithm>
#include <map>
#include <numeric>

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

/// Sets of ranks that legs join, each known by its lowest rank.
class JoinedRanks {
 public:
  explicit JoinedRanks(const Pattern& pattern) {
    for (const std::vector<Leg>& legs : pattern.channels) {
      for (const Leg& leg : legs) join(leg.from, leg.to);
    }
  }

  std::size_t lowest(std::size_t rank) {
    while (below_[rank] != rank) rank = below_[rank] = below_[below_[rank]];
    return rank;
  }

 private:
  void join(std::size_t a, std::size_t b) {
    const std::size_t known = below_.size();
    if (std::max(a, b) >= known) {
      below_.resize(std::max(a, b) + 1);
      std::iota(below_.begin() + static_cast<std::ptrdiff_t>(known), below_.end(), known);
    }
    const std::size_t first = lowest(a);
    const std::size_t second = lowest(b);
    below_[std::max(first, second)] = std::min(first, second);
  }

  std::vector<std::size_t> below_ = {};
};

}  // namespace

std::size_t count_legs(const Pattern& pattern) {
  std::size_t count = 0;
  for (const std::vector<Leg>& legs : pattern.channels) count += legs.size();
  return count;
}

std::vector<bool> touched(const Pattern& pattern, std::size_t ranks) {
  std::vector<bool> in(ranks, false);
  for (const std::vector<Leg>& channel : pattern.channels) {
    for (const Leg& leg : channel) in[leg.from] = in[leg.to] = true;
  }
  return in;
}

std::vector<Pattern> parts_of(const Pattern& pattern) {
  JoinedRanks joined(pattern);
  std::vector<Pattern> parts;
  std::map<std::size_t, std::size_t> numbers;  // of parts, by their lowest rank
  for (const std::vector<Leg>& legs : pattern.channels) {
    std::vector<bool> met(parts.size(), false);  // by part, whether the channel has legs of it
    for (const Leg& leg : legs) {
      const std::size_t number = numbers.try_emplace(joined.lowest(leg.from), numbers.size()).first->second;
      if (number == parts.size()) parts.emplace_back();
      met.resize(parts.size(), false);
      if (!met[number]) parts[number].channels.emplace_back();
      met[number] = true;
      parts[number].channels.back().push_back(leg);
    }
  }
  return parts;
}

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
