#pragma once

/// \file
/// Exchanges as tasks between ranks. `ready` names per rank the task after which its part may leave; the
/// result per rank the task after which it holds what it gets.

#include "collective/exchange.hpp"
#include "collective/rank_group.hpp"

namespace gpuscale {

/// Any collective by any algorithm of the table, encoded where the exchange says so. `automatic` is the
/// fastest for the size; the protocol is always chosen. With a codec that cannot be summed in flight, pieces
/// are decoded, added and encoded where they meet, or every rank gathers every other's codes.
RankTasks add_collective(PlanBuilder& plan, const RankGroup& group, Collective what, ExchangeAlgorithm algorithm,
                         const Exchange& exchange, const RankTasks& ready);

/// Every rank sends to every other what `bytes` says: sender by sender, receiver by receiver.
RankTasks add_all_to_all_v(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                           const std::vector<std::vector<Bytes>>& bytes, const RankTasks& ready);

RankTasks add_ring_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                              const RankTasks& ready);
RankTasks add_direct_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                                const RankTasks& ready);

/// Each rank holds 1/N of the tensor and gets the rest (ring of N-1 steps).
RankTasks add_all_gather(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready);

/// Each rank holds partial sums of the tensor and gets 1/N of the total (ring of N-1 steps).
RankTasks add_reduce_scatter(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                             const RankTasks& ready);

/// One copy from the first rank of a pair to the second, encoded and decoded.
TaskId add_send(PlanBuilder& plan, const RankGroup& pair, const Exchange& exchange, TaskId ready);

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

}  // namespace gpuscale
