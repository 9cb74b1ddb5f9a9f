#include <bit>
#include <vector>

#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

/// Ranks whose numbers differ in one bit, both ways.
GroupPattern partners(std::size_t ranks, std::size_t distance) {
  GroupPattern result{.pattern = {.channels = {{}}}};
  for (std::size_t i = 0; i < ranks; ++i) result.pattern.channels.front().push_back({.from = i, .to = i ^ distance});
  return result;
}

/// The ranks beyond a power of two and their partners, one way.
GroupPattern fold(std::size_t ranks, std::size_t power, bool inward) {
  GroupPattern result{.pattern = {.channels = {{}}}};
  for (std::size_t i = power; i < ranks; ++i) {
    result.pattern.channels.front().push_back({.from = inward ? i : i - power, .to = inward ? i - power : i});
  }
  return result;
}

}  // namespace

bool has_power_of_two(const RankGroup& group) { return std::has_single_bit(group.size()); }

RankTasks add_halving_doubling(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra) {
  const std::size_t ranks = mover.group().size();
  const std::size_t power = std::bit_floor(ranks);
  const bool sums = what != Collective::all_gather;
  const bool gathers = what != Collective::reduce_scatter;
  RankTasks done = ready;
  MoveCost cost{.opens = true, .own = size / mover.group().count(), .extra = extra};
  const auto move = [&](const GroupPattern& pattern, Bytes bytes) {
    done = mover.move(pattern, 1, bytes, done, cost);
    cost = {};
  };
  if (ranks > power) move(fold(ranks, power, true), size);
  std::vector<std::size_t> distances;
  for (std::size_t distance = power / 2; distance > 0; distance /= 2) distances.push_back(distance);
  const auto part = [&](std::size_t distance) {
    return size * static_cast<double>(distance) / static_cast<double>(power);
  };
  if (sums) {
    for (const std::size_t distance : distances) move(partners(power, distance), part(distance));
  }
  if (gathers) {
    for (auto distance = distances.rbegin(); distance != distances.rend(); ++distance) {
      move(partners(power, *distance), part(*distance));
    }
  }
  if (ranks > power) move(fold(ranks, power, false), size);
  return done;
}

}  // namespace gpuscale
