#pragma once

/// \file
/// A training job as a user describes it: what to train, how to split it, in which framework.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collective/codec.hpp"
#include "collective/exchange.hpp"
#include "hardware/precision.hpp"
#include "parallel/calibration.hpp"
#include "parallel/framework.hpp"
#include "parallel/rank_grid.hpp"
#include "units/quantity.hpp"
#include "workload/lower.hpp"
#include "workload/model_spec.hpp"
#include "workload/optimizer.hpp"

namespace gpuscale {

/// `64 per gpu` keeps the work of a GPU (weak scaling); `256 global` divides it (strong scaling).
struct BatchSpec {
  std::int64_t samples = 1;
  bool per_gpu = true;

  bool operator==(const BatchSpec&) const = default;
};

/// Exchange settings of a scenario; what is empty is the framework's.
struct ExchangeConfig {
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::automatic;
  std::optional<Bytes> bucket = {};
  std::optional<bool> overlap = {};
  CodecKind codec = CodecKind::none;
  Bytes codec_from = {};  ///< smaller tensors travel as they are
  int rank = 4;           ///< of the factors of the low_rank codec
  /// Gradients of the step before travel while this one computes, and are applied a step late (double buffering).
  bool delayed = false;
  std::optional<ExchangeSchedule> schedule = {};
  std::optional<Bytes> partition = {};
  std::optional<Bytes> credit = {};
  Fidelity fidelity = Fidelity::coupled;

  bool operator==(const ExchangeConfig&) const = default;
};

/// Layer-split model parallelism after Dettmers and Krizhevsky: linear and recurrent layers hold 1/G
/// of their outputs; activations travel while the next sub-batch computes. Convolutions before them work on
/// each rank's own part of the batch ("one weird trick", arXiv:1404.5997).
struct ModelSplitConfig {
  int degree = 1;
  std::int64_t sub_batch = 0;  ///< samples a pass; 0: the whole batch at once
  CodecKind codec = CodecKind::none;
  /// Nothing is split: from the first linear layer on every rank computes the samples of all, so that only the
  /// activations before it travel, each rank's part to every other, and gradients of what follows are the same
  /// everywhere.
  bool whole = false;
  bool update_each = false;  ///< layers from the first split one on are updated after every sub-batch, not once a step

  bool operator==(const ModelSplitConfig&) const = default;
};

/// Tensor parallelism after Megatron-LM (arXiv:1909.08053).
struct TensorConfig {
  int degree = 1;
  bool sequence_parallel = false;  ///< norms and dropout divided by positions (arXiv:2205.05198)
  /// Part of each exchange that runs beside the products it feeds or follows (asynchronous tensor parallelism): [0, 1).
  double overlap = 0.0;
  CodecKind codec = CodecKind::none;  ///< of the activations that travel

  bool operator==(const TensorConfig&) const = default;
};

/// Order in which a stage works on microbatches.
enum class PipelineSchedule { one_forward_one_backward, gpipe, interleaved, zero_bubble };

inline constexpr std::array<std::string_view, 4> kPipelineScheduleNames = {"1f1b", "gpipe", "interleaved",
                                                                           "zero_bubble"};

/// Stages that hold consecutive layers. With one stage, microbatches are gradient accumulation.
struct PipelineConfig {
  int stages = 1;
  std::int64_t microbatches = 1;  ///< a step, of each copy of the model
  std::int64_t micro_batch = 0;   ///< samples of one; 0: given by `microbatches`
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  int chunks = 1;                        ///< parts of the model on each stage; more than 1 only when interleaved
  std::vector<std::int64_t> split = {};  ///< blocks of each part in model order; empty: as even as they go
  CodecKind codec = CodecKind::none;     ///< of the activations and errors that travel

  bool operator==(const PipelineConfig&) const = default;
};

struct ContextConfig {
  int degree = 1;
  ContextMethod method = ContextMethod::ring;
  bool balanced = true;  ///< each rank gets both ends of a masked sequence; else the last has most to do

  bool operator==(const ContextConfig&) const = default;
};

struct ExpertConfig {
  int degree = 1;
  double imbalance = 1.0;  ///< visits of the busiest rank over an even share, at least 1

  bool operator==(const ExpertConfig&) const = default;
};

/// What copies of the model divide instead of each holding it (arXiv:1910.02054).
struct ShardConfig {
  int stage = 0;             ///< 1: optimizer state; 2: gradients too; 3: parameters too (FSDP)
  bool within_node = false;  ///< shared out among the copies in one node, the same in each node (hybrid sharding)
  int prefetch = 1;          ///< units gathered ahead of the one that computes

  bool operator==(const ShardConfig&) const = default;
};

/// What is computed again in the backward pass instead of being kept.
/// selective: attention scores (arXiv:2205.05198); alternate: every second product of a block and all that is no
/// product (torchtitan's selective recompute by operator, arXiv:2410.06511); full: all of a block but its input.
enum class Recompute { none, selective, alternate, full };

inline constexpr std::array<std::string_view, 4> kRecomputeNames = {"none", "selective", "alternate", "full"};

/// How samples are shared out among copies of the model: the same for each, or in proportion to the speed of their
/// GPUs, where those are unlike. Gradients of unequal batches are averaged with the samples as weights.
enum class BatchSplit { even, proportional };

inline constexpr std::array<std::string_view, 2> kBatchSplitNames = {"even", "proportional"};

/// How the job is split. Degrees multiply to the GPU count; data 0 means whatever is left.
struct ParallelConfig {
  int data = 0;
  BatchSplit batch_split = BatchSplit::even;
  ModelSplitConfig model;
  TensorConfig tensor;
  ContextConfig context;
  ExpertConfig expert;
  PipelineConfig pipeline;
  ShardConfig shard;
  Recompute recompute = Recompute::none;
  bool offload_optimizer = false;  ///< optimizer state and its update on the CPU
  bool independent = false;        ///< every GPU trains a job of its own
  bool asynchronous = false;       ///< workers push and pull from a server without waiting for each other
  std::int64_t average_every = 1;  ///< steps between exchanges (local SGD): parameters are averaged then
  RankOrder order = kUsualRankOrder;
  bool fold = true;  ///< ranks that are alike are simulated once; the result is the same
  ExchangeConfig exchange;

  bool operator==(const ParallelConfig&) const = default;
};

/// Where samples come from. Without it, input is taken as never the limit.
struct InputConfig {
  Bytes bytes_per_sample = {};                 ///< stored size
  std::optional<double> decode_per_core = {};  ///< samples/s one core prepares
  int cores = 0;
  std::optional<BytesPerSecond> storage = {};         ///< read rate of the node's storage
  std::optional<BytesPerSecond> shared_storage = {};  ///< read rate of storage that all nodes share
  std::optional<Bytes> copied_per_sample = {};        ///< to the GPU; empty: the model's input
  Bytes ram_per_sample = {};                          ///< traffic of decoding and augmenting in host memory
};

/// One copy of `numbers` values from the first GPU to the second: no training, the time of a link.
struct TransferWorkload {
  std::int64_t numbers = 0;
};

struct Job {
  ModelSpec model;  ///< empty when `transfer` is set
  std::optional<TransferWorkload> transfer = {};
  BatchSpec batch;
  bool forward_only = false;  ///< inference: no backward pass, no exchange of gradients, no update
  Precision precision = Precision::fp32;
  std::optional<std::int64_t> sequence = {};  ///< replaces the model's sequence length
  Optimizer optimizer = Optimizer::sgd_momentum;
  ParallelConfig parallel;
  Framework framework;
  std::optional<InputConfig> input = {};
  std::optional<double> calibrated_throughput = {};  ///< samples/s measured on one GPU
  Calibration calibration;                           ///< what the user measured on an installation
  double compute_scale = 1.0;                        ///< on every kernel time; what calibration sets
  double slowest_scale = 1.0;  ///< on every kernel time besides: of the slowest rank, for which the others wait

  /// On the kernel times of an average card.
  [[nodiscard]] double kernel_scale() const { return compute_scale * slowest_scale; }
};

}  // namespace gpuscale
