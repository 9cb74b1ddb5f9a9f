#pragma once

#include <cstdint>
#include <vector>

#include "units/quantity.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// A piece of the gradients that travels in one exchange.
struct Bucket {
  double values = 0;           ///< numbers
  std::size_t last_layer = 0;  ///< the earliest layer in it: its backward completes the piece
  bool split = false;          ///< of layers that model parallel ranks share: exchanged by copies only
  bool sparse = false;         ///< rows of an embedding: gathered, not summed
};

/// How gradients are cut into pieces.
struct BucketRule {
  Bytes size = {};           ///< a piece is closed once it has at least this; 0: every tensor alone
  Bytes first_size = {};     ///< for the first piece of a step; 0: as `size`
  bool whole_model = false;  ///< one piece of everything
  Bytes number = {};         ///< size of one gradient number on the wire, without codec
};

/// Pieces in the order in which backward completes them: from the last layer to the first. Sparse
/// gradients and those of split layers never share a piece with others.
std::vector<Bucket> cut_buckets(const ModelWork& work, const BucketRule& rule);

}  // namespace gpuscale
