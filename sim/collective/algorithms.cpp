#include "collective/algorithms.hpp"

#include <algorithm>
#include <array>

namespace gpuscale {

namespace {

/// Above this many ranks, every rank to every other is more legs than anyone sends.
constexpr std::size_t kMostForPairs = 128;

using enum Collective;

constexpr std::array kAll = {all_reduce, reduce_scatter, all_gather, broadcast, reduce};
constexpr std::array kDirect = {all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, reduce, send};
constexpr std::array kScattered = {all_reduce, reduce_scatter, all_gather};
constexpr std::array kSum = {all_reduce};

bool always(const RankGroup& /*group*/) { return true; }
bool few(const RankGroup& group) { return group.size() <= kMostForPairs; }

constexpr std::array kAlgorithms = {
    AlgorithmEntry{ExchangeAlgorithm::ring, kAll, &always, &add_ring},
    AlgorithmEntry{ExchangeAlgorithm::direct, kDirect, &few, &add_direct},
    AlgorithmEntry{ExchangeAlgorithm::one_shot, kSum, &few, &add_one_shot},
    AlgorithmEntry{ExchangeAlgorithm::double_tree, kSum, &always, &add_double_tree},
    AlgorithmEntry{ExchangeAlgorithm::halving_doubling, kScattered, &always, &add_halving_doubling},
    AlgorithmEntry{ExchangeAlgorithm::hierarchical, kScattered, &has_boxes, &add_hierarchical},
    AlgorithmEntry{ExchangeAlgorithm::in_switch, kScattered, &has_summing_switch, &add_in_switch},
    AlgorithmEntry{ExchangeAlgorithm::torus, kScattered, &has_torus, &add_torus},
};

}  // namespace

std::span<const AlgorithmEntry> exchange_algorithms() { return kAlgorithms; }

RankTasks add_by(const AlgorithmEntry& entry, Mover& mover, Collective what, Bytes size, const RankTasks& ready,
                 Seconds extra) {
  RankTasks done = entry.add(mover, what, size, ready, extra);
  mover.finish();
  return done;
}

bool can_do(const AlgorithmEntry& entry, Collective what, const RankGroup& group) {
  if (std::ranges::find(entry.collectives, what) == entry.collectives.end()) return false;
  const bool odd = entry.algorithm == ExchangeAlgorithm::halving_doubling && what != all_reduce;
  return entry.fits(group) && !(odd && !has_power_of_two(group));
}

}  // namespace gpuscale
