#pragma once

#include "collective/exchange.hpp"
#include "collective/rank_group.hpp"

namespace gpuscale {

/// Sums a tensor over ranks by a ring, as one coupled transfer: a reduce-scatter and an all-gather of
/// N-1 steps each, every rank sending 2(N-1)/N of the tensor. With a codec that cannot be summed in
/// flight, every hop decodes, adds and encodes, or every rank gathers every other's codes.
/// \param ready per rank, the task after which its part may leave
/// \returns per rank, the task after which it holds the sum
RankTasks add_ring_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                              const RankTasks& ready);

/// Sums a tensor over ranks in two steps: each rank receives its 1/N of the tensor from every other and
/// adds them up, then sends the sum to every other. Each rank sends 2(N-1)/N, as in a ring, but to all.
RankTasks add_direct_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                                const RankTasks& ready);

/// A ring with every step of every rank a transfer of its own: the oracle of the coupled form. Without codec.
RankTasks add_stepwise_ring_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                                       const RankTasks& ready);

/// Every rank sends to one server, which adds up and sends the result back to each; copies to and from
/// the server share its links. On the CPU the server is the host memory nearest to rank 0 and
/// `server_lane` does the sums, at the transport's server_rate; `updates` more passes over the tensor
/// are added where the server also applies the optimizer. On GPU 0 (no server lane) rank 0 sums.
RankTasks add_cpu_server(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                         LaneId server_lane, double updates);
RankTasks add_gpu_server(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready);

/// Up a binary tree of ranks to rank 0, where neighbours meet first (1 to 0, 3 to 2, then 2 to 0), and
/// down the same way. Whole tensors travel, one level after the other.
RankTasks add_tree_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                              const RankTasks& ready);

/// Rank 0 sends the tensor to every other rank at the same time.
RankTasks add_broadcast(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, TaskId ready);

/// Every rank sends its tensor to rank 0, which adds them up.
TaskId add_reduce_to_first(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready);

/// Each rank holds 1/N of the tensor and gets the rest (ring of N-1 steps).
RankTasks add_all_gather(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready);

/// Each rank holds partial sums of the tensor and gets 1/N of the total (ring of N-1 steps).
RankTasks add_reduce_scatter(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                             const RankTasks& ready);

/// One copy from the first rank of a pair to the second, encoded and decoded.
TaskId add_send(PlanBuilder& plan, const RankGroup& pair, const Exchange& exchange, TaskId ready);

}  // namespace gpuscale
