#pragma once

/// \file
/// Exchanges as tasks between ranks. `ready` names per rank the task after which its part may leave; the
/// result per rank the task after which it holds what it gets.

#include <span>

#include "collective/exchange.hpp"
#include "collective/rank_group.hpp"

namespace gpuscale {

/// Any collective by any algorithm of the table, encoded where the exchange says so. `automatic` is the
/// fastest for the size; the protocol is always chosen. With a codec that cannot be summed in flight, pieces
/// are decoded, added and encoded where they meet, or every rank gathers every other's codes.
RankTasks add_collective(PlanBuilder& plan, const RankGroup& group, Collective what, ExchangeAlgorithm algorithm,
                         const Exchange& exchange, const RankTasks& ready);

/// Every rank sends to every other what `bytes` says: bytes[sender][receiver], on the wire, codecs included; the
/// diagonal is what ranks keep and copy themselves. All copies move at paces in the proportion of their amounts and end
/// together: alone, when the busiest link has carried all it has to, which is the least that any order of copies takes.
/// A copy of nothing costs nothing, and a rank in no copy keeps its task. Legs are as many as amounts, so meant for
/// groups of tens of ranks.
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

/// A parameter server on the CPU: it sums at the transport's server_rate, on a lane of its own.
struct CpuServer {
  LaneId lane = {};
  double updates = 0.0;  ///< further passes over the tensor, where it applies the optimizer too
  DeviceId memory = {};  ///< where the parameters are; invalid: the host memory nearest to rank 0
};

/// Every rank sends to one server, which adds up and sends the result back to each; copies to and from the server
/// share its links. Push and pull are the two halves.
RankTasks add_cpu_server(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                         const CpuServer& server);
RankTasks add_server_push(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                          const CpuServer& server);
RankTasks add_server_pull(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                          const CpuServer& server);

/// Up a binary tree of ranks to rank 0, where neighbours meet first (1 to 0, 3 to 2, then 2 to 0), and
/// down the same way. Whole tensors travel, one level after the other.
RankTasks add_tree_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                              const RankTasks& ready);

/// Doors through which what a rank sends to others passes, one copy at a time, the most urgent first: the thread or
/// engine that copies. Without doors all leave at once and share the link.
struct CopyDoors {
  std::span<const GateId> gates = {};  ///< by rank of the group, each with a credit of one; empty: no doors
  int urgency = 0;                     ///< lower ones go first
};

/// Every rank sends its tensor to the rank with this number, which adds them up: one half of a server on a GPU.
TaskId add_sum_at(PlanBuilder& plan, const RankGroup& group, std::size_t owner, const Exchange& exchange,
                  const RankTasks& ready, const CopyDoors& doors = {});

/// That rank encodes the tensor once and sends it to every other: the second half.
RankTasks add_broadcast_from(PlanBuilder& plan, const RankGroup& group, std::size_t owner, const Exchange& exchange,
                             TaskId ready, const CopyDoors& doors = {});

/// The same two on rank 0.
RankTasks add_broadcast(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, TaskId ready);
TaskId add_reduce_to_first(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready);

}  // namespace gpuscale
