#pragma once

#include <string>
#include <vector>

#include "parallel/job.hpp"
#include "parallel/layer_times.hpp"
#include "plan/plan.hpp"
#include "topology/cluster.hpp"
#include "topology/machine_spec.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// How the GPUs of a job are arranged: `model` neighbours share a copy of the model, `data` copies.
struct RankGrid {
  int data = 1;
  int model = 1;

  /// From the degrees a user wrote; data 0 takes what is left. \pre they multiply to `gpus`.
  static RankGrid of(const ParallelConfig& config, int gpus);
  [[nodiscard]] int size() const { return data * model; }
};

/// Samples one copy of the model sees in a step, and all copies together.
struct BatchSizes {
  std::int64_t replica = 1;
  std::int64_t global = 1;
};

BatchSizes batch_sizes(const Job& job, const RankGrid& grid);

/// Whether the parameters live on a server that also updates them: then even one GPU pushes and pulls.
bool updates_on_server(const Job& job);

/// A plan and what a report wants to know about how it was made.
struct PlannedStep {
  Plan plan;
  RankGrid grid;
  BatchSizes batch;
  std::vector<LayerTime> times;  ///< by layer of `work`
  ModelWork work;                ///< of one pass of one rank
  std::int64_t passes = 1;       ///< sub-batches whose activations are alive together
  Bytes exchange_buffers;        ///< pieces being exchanged, codes and residuals, on every rank
  Flop model_flop;               ///< forward and backward of the whole job, one step
  double parameters = 0;         ///< of the whole model
  std::int64_t tokens_per_sample = 0;
  Bytes sent_per_gpu;  ///< by a rank in a step, encoded
  Bytes sent_uncompressed_per_gpu;
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::ring;  ///< used for gradients
  std::string algorithm_reason;                           ///< why, where it was chosen: of the largest exchange
  std::size_t exchanges = 0;                              ///< gradient exchanges in a step
};

/// The work of one rank for so many samples of a pass. \throws ScenarioError if the model's layers do not join.
ModelWork rank_work(const Job& job, const RankGrid& grid, std::int64_t samples);

/// A plan with more tasks than this is refused: it would take minutes and gigabytes.
inline constexpr double kMostTasks = 2e7;

/// One training step of a job on a cluster as tasks. \pre the job passed the scenario reader's checks.
/// \param plan_time by which an exchange left to `auto` is chosen
PlannedStep build_plan(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time);

}  // namespace gpuscale
