#pragma once

/// \file
/// What the passes of build_plan share while a step grows. Internal to sim/parallel.

#include <map>
#include <tuple>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/rank_group.hpp"
#include "parallel/build_plan.hpp"
#include "parallel/job.hpp"
#include "parallel/layer_times.hpp"
#include "plan/plan.hpp"
#include "topology/cluster.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// A rank while the step is built: where it works and what it did last.
struct Rank {
  Participant self;
  LaneId host = {};
  TaskId last = {};  ///< the latest task of its own forward or backward chain
};

struct StepBuilder {
  const Job& job;
  const ClusterSpec& spec;
  const Cluster& cluster;
  PlanTimer plan_time;
  RankGrid grid;
  BatchSizes batch;
  ModelWork work;                     ///< of one pass of one rank
  std::vector<LayerTime> times = {};  ///< by layer of `work`
  std::int64_t passes = 1;            ///< sub-batches of a step

  PlanBuilder plan = {};
  std::vector<Rank> ranks = {};
  /// By layer and rank: the task after which the layer's gradient is complete (of the last pass).
  std::vector<RankTasks> gradient_ready = {};
  PlannedStep result = {};

  /// Groups of ranks already joined up, by first rank, size and stride.
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, RankGroup> groups = {};

  /// The group of ranks first, first + stride... of this size; made once.
  const RankGroup& group(std::size_t first, std::size_t size, std::size_t stride = 1);

  /// Notes what a rank sends in an exchange of `size` bytes, `share` times.
  void note_sent(const Exchange& exchange, double share);
};

/// One GPU's operators of one layer: the host issues, the GPU computes when it is issued and what it
/// requires is done. Becomes the rank's last task.
void add_layer_work(StepBuilder& step, Rank& rank, Seconds host, Seconds compute, std::uint32_t label,
                    TaskId also_requires = {});

/// The forward and backward passes of every rank; sub-batches and activation exchanges of split layers
/// included. Fills gradient_ready.
void add_forward_and_backward(StepBuilder& step);

/// Exchanges the gradients between copies of the model, in the framework's pieces. Each rank's last
/// task becomes the one after which it holds all sums.
void add_gradient_exchange(StepBuilder& step);

/// The update of the weights on every GPU that does one.
void add_optimizer_step(StepBuilder& step);

/// A whole step in the manner of a one-process wrapper that keeps the parameters on GPU 0: broadcast
/// them, scatter the batch, gather the outputs, compute the loss there, add up the gradients there.
void add_gathered_step(StepBuilder& step);

/// Samples of a step prepared beside it: the step lasts at least as long.
void add_input(StepBuilder& step);

/// The exchange settings in force: the scenario's, or else the framework's.
ExchangeAlgorithm algorithm_in_force(const Job& job);

}  // namespace gpuscale
