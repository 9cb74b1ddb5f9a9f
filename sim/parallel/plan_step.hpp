#pragma once

/// \file
/// One step with given roles. Internal to sim/parallel.

#include <cstddef>
#include <vector>

#include "parallel/build_plan.hpp"
#include "parallel/rank_kinds.hpp"

namespace gpuscale {

/// The whole step; ranks of one role are simulated once. `roles` are by rank and numbered in order of the ranks.
/// \param stays_coupled exchanges are not worked copy by copy where other traffic would part them: of every job that
///   may be folded, so that it takes the same time whether it is or not
/// \pre the number of microbatches is settled
/// \throws NotAlike if ranks of a role differ; ScenarioError if there are more tasks than a run may have
PlannedStep plan_step(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time,
                      const RankKinds& kinds, const std::vector<std::size_t>& roles, bool stays_coupled);

/// One copy between the first two ranks. \pre each rank has a role of its own, and there are two
PlannedStep plan_transfer(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time,
                          const RankKinds& kinds, const std::vector<std::size_t>& roles);

}  // namespace gpuscale
