#pragma once

/// \file
/// A training job as a user describes it: what to train, how to split it, in which framework.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collective/codec.hpp"
#include "collective/exchange.hpp"
#include "hardware/precision.hpp"
#include "parallel/framework.hpp"
#include "units/quantity.hpp"
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
  Fidelity fidelity = Fidelity::coupled;

  bool operator==(const ExchangeConfig&) const = default;
};

/// Layer-split model parallelism after Dettmers and Krizhevsky: linear and recurrent layers hold 1/G
/// of their outputs; activations travel while the next sub-batch computes.
struct ModelSplitConfig {
  int degree = 1;
  std::int64_t sub_batch = 0;  ///< samples a pass; 0: the whole batch at once
  CodecKind codec = CodecKind::none;

  bool operator==(const ModelSplitConfig&) const = default;
};

/// How the job is split. Degrees multiply to the GPU count; data 0 means whatever is left.
struct ParallelConfig {
  int data = 0;
  ModelSplitConfig model;
  bool independent = false;  ///< every GPU trains a job of its own
  ExchangeConfig exchange;

  bool operator==(const ParallelConfig&) const = default;
};

/// Where samples come from. Without it, input is taken as never the limit.
struct InputConfig {
  Bytes bytes_per_sample = {};                 ///< stored size
  std::optional<double> decode_per_core = {};  ///< samples/s one core prepares
  int cores = 0;
  std::optional<BytesPerSecond> storage = {};  ///< read rate of the node's storage
};

/// One copy of `numbers` values from the first GPU to the second: no training, the time of a link.
struct TransferWorkload {
  std::int64_t numbers = 0;
};

struct Job {
  ModelSpec model;  ///< empty when `transfer` is set
  std::optional<TransferWorkload> transfer = {};
  BatchSpec batch;
  Precision precision = Precision::fp32;
  std::optional<std::int64_t> sequence = {};  ///< replaces the model's sequence length
  Optimizer optimizer = Optimizer::sgd_momentum;
  ParallelConfig parallel;
  Framework framework;
  std::optional<InputConfig> input = {};
  std::optional<double> calibrated_throughput = {};  ///< samples/s measured on one GPU
  double compute_scale = 1.0;                        ///< on every kernel time; what calibration sets
};

}  // namespace gpuscale
