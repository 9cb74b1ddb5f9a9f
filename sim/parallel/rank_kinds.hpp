#pragma once

/// \file
/// Ranks that compute alike: the same card and the same number of samples.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel/job.hpp"
#include "parallel/layer_times.hpp"
#include "parallel/rank_grid.hpp"
#include "topology/cluster.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// What ranks have that compute alike.
struct RankKind {
  std::size_t card = 0;      ///< by number, of the cluster's
  std::int64_t samples = 1;  ///< of a step, of the copy of the model that the rank belongs to

  auto operator<=>(const RankKind&) const = default;
};

/// The kinds of a job's ranks, in order of the ranks, and which each rank is of.
struct RankKinds {
  std::vector<RankKind> kinds = {};
  std::vector<std::size_t> of_rank = {};
};

/// `total` cut into whole numbers in proportion to the speeds, each at least one: rounded down, and what is left goes
/// to the largest remainders, of equal ones to the first. \pre total >= how many speeds there are; speeds > 0
std::vector<std::int64_t> shared_by_speed(std::int64_t total, std::span<const double> speeds);

/// The samples a second of each kind of card that works alone on so many in a step: computing and the host
/// side by side, then the update of the weights.
std::vector<double> card_speeds(const Job& job, const ClusterSpec& spec, const RankGrid& grid, std::int64_t samples);

/// The kinds of all ranks: samples as `even` says, or in proportion to speed.
/// \pre the job passed the scenario reader's checks; its microbatches are counted
RankKinds rank_kinds(const Job& job, const ClusterSpec& spec, const Cluster& cluster, const RankGrid& grid);

}  // namespace gpuscale
