#pragma once

/// \file
/// Every algorithm by name, what it can do, and the function that does it. Sizes are of the whole tensor:
/// what an all-gather or all-to-all leaves on a rank, what a reduce-scatter starts from.

#include <span>

#include "collective/exchange.hpp"
#include "collective/mover.hpp"
#include "collective/rank_group.hpp"

namespace gpuscale {

/// One algorithm of the table.
struct AlgorithmEntry {
  ExchangeAlgorithm algorithm;
  std::span<const Collective> collectives;  ///< what it can do
  /// Whether the group has what it needs: boxes of equal size, a switch that sums, few enough ranks.
  bool (*fits)(const RankGroup& group);
  /// Adds the moves; `extra` is time spent where pieces meet, such as that of a codec.
  RankTasks (*add)(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);
};

std::span<const AlgorithmEntry> exchange_algorithms();

/// Adds the moves of an algorithm, and what they are step by step.
RankTasks add_by(const AlgorithmEntry& entry, Mover& mover, Collective what, Bytes size, const RankTasks& ready,
                 Seconds extra = {});

/// Whether an algorithm can do this on this group.
bool can_do(const AlgorithmEntry& entry, Collective what, const RankGroup& group);

/// Reduce-scatter and all-gather of N-1 steps each along rings; broadcast and reduce as a line in chunks.
RankTasks add_ring(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);
/// Every rank to every other: an all-reduce in two such steps.
RankTasks add_direct(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);
/// Every rank sends all it has to every other, which adds up: one step, N-1 times the data.
RankTasks add_one_shot(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);
/// Partners at half, a quarter... of the ranks' distance swap halves, then the same way back. Ranks beyond
/// a power of two hand their data to a partner first.
RankTasks add_halving_doubling(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);
/// Two binary trees with half the data each, the leaves of one inside the other; chunks up and down.
RankTasks add_double_tree(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);
/// Reduce-scatter inside each box, exchange between boxes over all adapters, all-gather inside; chunks overlap. Inside
/// by rings or by switches that sum, whichever is faster for the size; outside by rings, or by network switches that
/// sum.
RankTasks add_hierarchical(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);
/// Switches add up. NVSwitches: each rank sends and receives the tensor once, and 1/N of it more. Network switches,
/// of boxes with one rank each: once.
RankTasks add_in_switch(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);
/// Rings along each dimension of a 2D or 3D torus, the data shared out so that all dimensions are busy.
RankTasks add_torus(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra);

bool has_boxes(const RankGroup& group);  ///< several boxes with equally many ranks, more than one
bool has_summing_switch(const RankGroup& group);
bool has_torus(const RankGroup& group);  ///< ranks whose neighbours along two or three dimensions are joined
bool has_power_of_two(const RankGroup& group);

}  // namespace gpuscale
