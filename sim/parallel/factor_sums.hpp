#pragma once

#include "parallel/buckets.hpp"
#include "parallel/step_builder.hpp"

namespace gpuscale {

/// Sums a piece of gradients as two thin factors of every matrix (PowerSGD, arXiv:1905.13727, algorithms 1 and 2): each
/// rank multiplies its matrix with the last right factor, the left factors are summed and made orthogonal, with
/// which each rank makes its right factor, and those are summed. Vectors travel whole with the left factors.
/// All kernels run on the compute lane. \returns per role the task after which it holds the sum
RankTasks add_factor_sums(StepBuilder& step, GroupKind groups, int stage, const Bucket& bucket,
                          const Exchange& exchange, const RankTasks& ready);

}  // namespace gpuscale
