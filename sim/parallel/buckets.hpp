#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/framework.hpp"
#include "units/quantity.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// Sums over the matrices of a piece.
struct MatrixSums {
  int count = 0;
  double values = 0;  ///< numbers; the rest of the piece's are vectors
  double rows = 0;    ///< a matrix is outputs x inputs, kernels unrolled (arXiv:1905.13727)
  double columns = 0;
};

/// A piece of the gradients that travels in one exchange.
struct Bucket {
  double values = 0;           ///< numbers
  std::size_t last_layer = 0;  ///< the earliest layer in it: its backward completes the piece
  bool split = false;          ///< of layers that model parallel ranks share: exchanged by copies only
  bool expert = false;         ///< of experts that ranks divide: exchanged by those that hold the same
  bool sparse = false;         ///< rows of an embedding: gathered, not summed
  bool coded = true;           ///< large enough for the codec
  std::size_t owner = 0;       ///< place of the GPU that sums it, where whole pieces are summed on GPUs
  std::size_t key = 0;         ///< its number from the first layer on, by which servers share out small pieces
  MatrixSums matrices = {};    ///< what a codec that works on matrices wants to know
};

/// How gradients are cut into pieces.
struct BucketRule {
  Bytes size = {};           ///< a piece is closed once it has at least this; 0: every tensor alone
  Bytes first_size = {};     ///< for the first piece of a step; 0: as `size`
  bool whole_model = false;  ///< one piece of everything
  Bytes number = {};         ///< size of one gradient number on the wire, without codec
  Bytes codec_from = {};     ///< smaller tensors travel in pieces of their own, without codec
};

/// Pieces in the order in which backward completes them: from the last of these layers to the first. Sparse
/// gradients, those of split layers and divided experts, and tensors with and without codec never share a piece.
std::vector<Bucket> cut_buckets(const ModelWork& work, std::span<const std::size_t> layers, const BucketRule& rule);

/// Gives each piece of a step to one of so many GPUs. Pieces are in the order of cut_buckets(); ties go to the GPU with
/// the lower number and the earlier layer.
void assign_owners(std::span<Bucket> pieces, TensorOwner rule, std::size_t gpus);

}  // namespace gpuscale
