#pragma once

/// \file
/// From the layers a user wrote to the work a GPU does: shape inference, kernels, parameters, saved
/// activations. The rules for each kind of layer are tabled in sim/workload/README.md.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hardware/kernel.hpp"
#include "hardware/precision.hpp"
#include "units/diagnostic.hpp"
#include "workload/layer_work.hpp"
#include "workload/model_spec.hpp"
#include "workload/written_out.hpp"

namespace gpuscale {

/// A model with more layers than this, repeats written out, is refused.
inline constexpr std::int64_t kMaximumLayers = 100'000;

/// How attention sees positions of other ranks: keys and values travel round while it computes, or two
/// all-to-alls give each rank all positions of some heads (DeepSpeed-Ulysses).
enum class ContextMethod { ring, all_to_all };

inline constexpr std::array<std::string_view, 2> kContextMethodNames = {"ring", "all_to_all"};

struct LowerOptions {
  std::int64_t batch = 1;                     ///< samples of this rank, or of one microbatch
  Precision precision = Precision::fp32;      ///< of the arithmetic; sets the size of activations
  std::optional<std::int64_t> sequence = {};  ///< replaces the model's sequence length
  bool fused_elementwise = false;             ///< element-wise operators join a neighbour, as a graph compiler does
  WrittenOutOperators written_out = {};       ///< what the framework makes of simpler operators, unless they are fused
  ConvolutionHabit convolution = {};          ///< how the framework calls the convolution library
  bool wide_loss = false;                     ///< the loss works on an fp32 copy of the scores and makes fp32 errors
  bool fused_attention = false;               ///< attention scores stay on chip
  bool sparse_embeddings = false;             ///< embedding gradients are the touched rows, as TensorFlow has them
  int model_split = 1;             ///< linear and recurrent layers compute 1/G of their columns from the whole input
  int tensor = 1;                  ///< Transformer blocks by heads and columns, then rows (Megatron); others by outputs
  bool sequence_parallel = false;  ///< what a tensor group does not divide is divided by positions
  /// Divided as PyTorch's DTensor does it: inputs that a tensor group gathers are kept, where Megatron-LM gathers them
  /// again backward, and the errors of a divided loss are made out of place.
  bool dtensor = false;
  int context = 1;  ///< every rank has 1/C of the positions
  ContextMethod context_method = ContextMethod::ring;
  bool context_balanced = true;   ///< each rank has both ends of a sequence, so that a mask leaves all the same work
  int expert = 1;                 ///< experts of a mixture are divided over so many ranks
  double expert_imbalance = 1.0;  ///< visits of the busiest rank over an even share, at least 1
};

/// Size of one activation in memory. fp8 is a way to multiply: activations stay 16 bit.
Bytes activation_size(Precision precision);

/// The work of one rank for one batch. What is wrong with the model is added to `problems`, with the
/// place of the layer; the result is then incomplete and must not be used. Never throws for input.
ModelWork lower(const ModelSpec& model, const LowerOptions& options, std::vector<Problem>& problems);

}  // namespace gpuscale
