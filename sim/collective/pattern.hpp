#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace gpuscale {

inline constexpr std::size_t kNoRank = std::numeric_limits<std::size_t>::max();

/// A copy from one rank to another, `weight` bytes for each byte of its pattern; over the NVLinks of a
/// third rank if that is named.
struct Leg {
  std::size_t from = 0;
  std::size_t to = 0;
  double weight = 1.0;
  std::size_t relay = kNoRank;

  bool operator==(const Leg&) const = default;
};

/// Copies that happen at the same time, once or several times over. Channels are independent of each
/// other: what arrives over one goes on over the same.
struct Pattern {
  std::vector<std::vector<Leg>> channels = {};

  bool operator==(const Pattern&) const = default;
};

std::size_t count_legs(const Pattern& pattern);
/// By rank, whether the pattern copies from or to it.
std::vector<bool> touched(const Pattern& pattern, std::size_t ranks);

/// What a pattern does among ranks that have nothing to do with the others, part by part in the order of their first
/// legs: pairs that swap, rings of single boxes.
std::vector<Pattern> parts_of(const Pattern& pattern);

/// Each of the ranks to the one after it.
Pattern line_of(const std::vector<std::size_t>& ranks);
/// A child and its parent in a tree, `level` legs below the root.
struct TreeEdge {
  std::size_t child = 0;
  std::size_t parent = 0;
  std::size_t level = 0;
};

/// A balanced binary tree over ranks 0..ranks-1, in which neighbours in a box are near each other.
std::vector<TreeEdge> balanced_tree(std::size_t ranks);
/// That tree and the same one rank further on, half the data each, on every edge up and down at once.
Pattern double_tree(std::size_t ranks);
/// Every one of the ranks to every other.
Pattern all_pairs(std::size_t ranks);

}  // namespace gpuscale
