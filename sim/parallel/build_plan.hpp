#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "parallel/job.hpp"
#include "parallel/layer_times.hpp"
#include "parallel/rank_grid.hpp"
#include "parallel/rank_kinds.hpp"
#include "parallel/stages.hpp"
#include "plan/plan.hpp"
#include "topology/cluster.hpp"
#include "topology/machine_spec.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// The arrangement a user asked for; data 0 takes what is left. \pre degrees multiply to `gpus`
RankGrid rank_grid(const ParallelConfig& config, int gpus);

/// Samples one copy of the model sees in a step, and all copies together.
struct BatchSizes {
  std::int64_t replica = 1;
  std::int64_t global = 1;
};

BatchSizes batch_sizes(const Job& job, const RankGrid& grid);

/// Microbatches of a step: as told, or as many as the size of one makes.
std::int64_t microbatch_count(const Job& job, const BatchSizes& batch);

/// Whether the parameters live on a server that also updates them: then even one GPU pushes and pulls.
bool updates_on_server(const Job& job);

/// What ranks of a stage send for one purpose in a step.
struct SentBytes {
  std::string purpose = {};  ///< "gradient", "tensor", "pipeline"...
  int stage = 0;
  Bytes encoded = {};
  Bytes plain = {};  ///< without codec
};

/// Of the tasks that update the weights.
inline constexpr std::string_view kUpdateLabel = "optimizer";

/// What ranks do that have the same card and the same number of samples.
struct KindOfRank {
  RankKind kind = {};
  std::size_t ranks = 0;
  std::optional<ModelWork> work = {};  ///< of one pass, where it is not that of all ranks
  std::vector<LayerTime> times = {};   ///< by layer of a pass
  std::vector<LaneId> lanes = {};      ///< on which those compute that were simulated
  std::vector<TaskId> last = {};       ///< tasks of theirs
};

/// Part of a plan in which its steps follow each other as they would forever.
struct SteadyPart {
  TaskId from = {};  ///< at whose end it begins
  TaskId to = {};    ///< at whose end it ends
  int steps = 1;
};

/// A plan and what a report wants to know about how it was made.
struct PlannedStep {
  Plan plan;
  int steps = 1;  ///< training steps in the plan: several where an exchange closes several or runs into the next
  std::optional<SteadyPart> steady = {};  ///< empty: the plan begins and ends with its steps
  RankGrid grid;
  BatchSizes batch;
  ModelWork work;                         ///< of one pass of one rank; of an even share where batches differ
  std::vector<KindOfRank> kinds;          ///< in order of the ranks; one where GPUs and batches are alike
  std::vector<std::size_t> kind_of_rank;  ///< by number
  std::vector<ModelPart> parts;           ///< of the model, in its order
  std::int64_t passes = 1;                ///< microbatches, or sub-batches whose activations are alive together
  std::size_t undivided = 0;              ///< layers before a layer split, computed once a step
  int shard = 1;                          ///< copies among which ZeRO shares out
  Flop model_flop;                        ///< forward and backward of the whole job, one step
  double parameters = 0;                  ///< of the whole model
  std::int64_t tokens_per_sample = 0;
  std::vector<SentBytes> sent;
  Bytes sent_per_gpu;  ///< by a rank in a step, encoded: of the stage that sends most
  Bytes sent_uncompressed_per_gpu;
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::ring;  ///< used for gradients
  std::string algorithm_reason;                           ///< why, where it was chosen: of the largest exchange
  std::size_t exchanges = 0;                              ///< gradient exchanges in a step
  std::size_t roles = 1;                                  ///< ranks that were simulated
  std::vector<ChannelId> stands_for;                      ///< by channel: the simulated one it is like

  /// Of one pass of a rank of a kind.
  [[nodiscard]] const ModelWork& work_of(const KindOfRank& kind) const { return kind.work ? *kind.work : work; }
};

/// The work of one rank for so many samples of a pass. \throws ScenarioError if the model's layers do not join.
ModelWork rank_work(const Job& job, const RankGrid& grid, std::int64_t samples);

/// A plan with more tasks than this is refused: it would take minutes and gigabytes.
inline constexpr double kMostTasks = 2e7;

/// One training step of a job on a cluster as tasks. \pre the job passed the scenario reader's checks.
/// \param plan_time by which an exchange left to `auto` is chosen
PlannedStep build_plan(const Job& job, const ClusterSpec& spec, const Cluster& cluster, PlanTimer plan_time);

}  // namespace gpuscale
