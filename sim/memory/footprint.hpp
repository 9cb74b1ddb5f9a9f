#pragma once

/// \file
/// What fills the memory of one rank, by cause.

#include <vector>

#include "hardware/precision.hpp"
#include "units/quantity.hpp"
#include "workload/layer_work.hpp"
#include "workload/optimizer.hpp"

namespace gpuscale {

/// Bytes on one GPU by cause; their sum is what must fit.
struct Footprint {
  Bytes parameters = {};      ///< in the compute precision
  Bytes master_weights = {};  ///< the fp32 copy of mixed precision
  Bytes gradients = {};
  Bytes optimizer = {};    ///< momentum and the like
  Bytes activations = {};  ///< kept from forward to backward, with the input batch
  Bytes errors = {};       ///< the largest pair of activation gradients alive at once
  Bytes workspace = {};    ///< scratch of the hungriest layer
  Bytes exchange = {};     ///< buckets being exchanged, codec codes and residuals
  Bytes framework = {};    ///< context, libraries, allocator slack

  [[nodiscard]] Bytes total() const;
};

/// A footprint beside the card it must fit on.
struct MemoryReport {
  Footprint footprint;
  Bytes capacity = {};  ///< of the card
  bool fits = true;
  double largest_batch_per_gpu = 0;  ///< samples a GPU could hold, all else equal; 0 if none
};

/// What a strategy adds or takes away; one rank's view.
struct MemoryOptions {
  Precision precision = Precision::fp32;
  Optimizer optimizer = Optimizer::sgd_momentum;
  bool optimizer_elsewhere = false;  ///< a parameter server keeps the state
  Bytes exchange_buffers = {};
  Bytes framework = {};
  double passes = 1.0;  ///< sub-batches whose activations are alive at once; the work is of one
};

Footprint footprint(const ModelWork& work, const MemoryOptions& options);

}  // namespace gpuscale
