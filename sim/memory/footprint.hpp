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
  Footprint footprint;                 ///< of the fullest rank; of unlike cards that with least room left
  std::vector<Footprint> stages = {};  ///< by pipeline stage; of unlike batches those of the largest
  Bytes capacity = {};                 ///< of that rank's card
  bool fits = true;                    ///< on every card
  double largest_batch_per_gpu = 0;    ///< samples a GPU could hold, all else equal; 0 if none
  /// What convolutions may use where memory is tightest: the card less everything else, at least 0.
  Bytes room_for_workspace = {};
  /// Some card is too small for the algorithms that convolutions want; in a finished report they are held to that room.
  bool short_of_workspace = false;
};

/// Layers of one rank whose activations are alive as often as `alive` says: once for each microbatch in flight.
struct HeldLayers {
  std::size_t first = 0;  ///< of ModelWork::layers
  std::size_t last = 0;   ///< one past the end
  double alive = 1.0;

  bool operator==(const HeldLayers&) const = default;
};

/// What is kept of activations; the rest is computed again.
enum class Kept { everything, all_but_scores, every_second_product, unit_inputs };

/// What a strategy adds or takes away; one rank's view.
struct MemoryOptions {
  Precision precision = Precision::fp32;
  Optimizer optimizer = Optimizer::sgd_momentum;
  bool optimizer_elsewhere = false;  ///< a parameter server or the CPU keeps the state
  bool gradients_fp32 = false;       ///< summed in fp32 buffers, as Megatron-LM does
  Bytes exchange_buffers = {};
  Bytes returned_scores = {};  ///< of microbatches that have passed, kept until the step ends
  Bytes framework = {};
  double optimizer_share = 1.0;  ///< of optimizer state and master weights on this rank
  double gradient_share = 1.0;
  double parameter_share = 1.0;  ///< below one, the largest units are gathered when needed: two at a time
  bool copies_gathered = false;  ///< gathered parameters are copied out of the buffer in which they arrive
  double expert_ranks = 1.0;     ///< experts are divided among so many of the ranks that share out the rest
  Kept kept = Kept::everything;
  bool has_input = true;                ///< the rank reads samples
  std::vector<Bytes> scratch = {};      ///< by layer, of the algorithms its convolutions take; empty: of those of none
  std::vector<std::size_t> units = {};  ///< first layers of runs that are gathered or computed again as a whole
};

/// \pre `held` lists runs of layers within the work
Footprint footprint(const ModelWork& work, const std::vector<HeldLayers>& held, const MemoryOptions& options);

}  // namespace gpuscale
