#pragma once

/// \file
/// What a GPU is asked to do: one struct per kind of kernel, named by its shape. How long it takes
/// on a card is kernel_time.hpp.

#include <cstdint>
#include <limits>
#include <variant>

#include "hardware/precision.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// How the operands of a product lie in memory, in the words of BLAS, which keeps matrices column by column: plain (N),
/// or transposed (T). Frameworks that keep weights as [outputs, inputs] row by row ask for TN forward, NN for the
/// errors of the inputs and NT for the gradients of the weights.
struct OperandLayout {
  bool a_transposed = false;  ///< the numbers of a row of A, along the depth, are neighbours
  bool b_transposed = false;  ///< the numbers of a row of B, across the depth, are neighbours

  bool operator==(const OperandLayout&) const = default;
};

inline constexpr OperandLayout kTransposedA{.a_transposed = true};
inline constexpr OperandLayout kTransposedB{.b_transposed = true};

/// C[m,n] += A[m,k] x B[k,n], `batch` times with independent matrices.
struct GemmKernel {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t batch = 1;
  OperandLayout layout = {};

  bool operator==(const GemmKernel&) const = default;
};

/// Which of a layer's three products: outputs, errors of the inputs, gradients of the weights.
enum class Pass { forward, backward_data, backward_weights };

/// How a framework calls the convolution library.
struct ConvolutionHabit {
  /// Tensors lie in memory channel by channel; 16-bit kernels on matrix units want them pixel by pixel.
  bool channels_first = false;
  /// Tensors lie pixel by pixel; kernels without matrix units want them channel by channel, except products of 1 x 1
  /// filters that take every pixel, which any layout serves.
  bool channels_last = false;
  Bytes workspace = Bytes(std::numeric_limits<double>::infinity());  ///< that an algorithm may use; >= 0

  bool operator==(const ConvolutionHabit&) const = default;
};

struct ConvolutionKernel {
  Pass pass = Pass::forward;
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t height = 1;  ///< of the input, without padding
  std::int64_t width = 1;
  std::int64_t out_channels = 1;
  std::int64_t out_height = 1;
  std::int64_t out_width = 1;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride_height = 1;
  std::int64_t stride_width = 1;
  std::int64_t groups = 1;
  ConvolutionHabit habit = {};

  bool operator==(const ConvolutionKernel&) const = default;
};

enum class RecurrentCell { rnn, gru, lstm };

/// Matrix products a cell makes per step and direction: 1, 3 or 4.
constexpr std::int64_t gates(RecurrentCell cell) {
  return cell == RecurrentCell::rnn ? 1 : cell == RecurrentCell::gru ? 3 : 4;
}

/// One recurrent layer in one direction over a whole sequence. The input products of all steps are
/// one large matrix product; the recurrent products follow each other step by step.
struct RecurrentKernel {
  Pass pass = Pass::forward;
  RecurrentCell cell = RecurrentCell::lstm;
  std::int64_t batch = 1;
  std::int64_t input = 1;   ///< width of the layer's input
  std::int64_t hidden = 1;  ///< units
  std::int64_t steps = 1;   ///< sequence length
  bool persistent = false;  ///< the library may keep the recurrent weights on chip, where they fit

  bool operator==(const RecurrentKernel&) const = default;
};

/// The score, softmax and value products of attention, without the projections around them.
/// Pass::backward_weights does not occur: attention itself has no weights.
struct AttentionKernel {
  Pass pass = Pass::forward;
  std::int64_t batch = 1;
  std::int64_t query_length = 1;
  std::int64_t key_length = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_size = 1;
  bool causal = false;
  bool fused = false;         ///< scores stay on chip (flash attention)
  bool scores_apart = false;  ///< not fused, and softmax is not of this kernel: StreamKernels beside it are

  bool operator==(const AttentionKernel&) const = default;
};

/// Work that is bound by memory: element-wise, normalisation, pooling, softmax, embedding,
/// optimizer. `kernels` counts how many launches move these bytes.
struct StreamKernel {
  Bytes moved;
  std::int64_t kernels = 1;

  bool operator==(const StreamKernel&) const = default;
};

using Kernel = std::variant<GemmKernel, ConvolutionKernel, RecurrentKernel, AttentionKernel, StreamKernel>;

/// Share of the score matrix that a causal mask leaves: a query sees the keys up to its own place,
/// counted from the end of the keys. 1 without a mask.
double visible_share(const AttentionKernel& kernel);

/// Floating-point operations of the matrix products, a multiply-add counted two. Attention counts the
/// whole score matrix, masked or not, as published counts and MFU do. A StreamKernel counts none.
Flop flop(const Kernel& kernel);

/// Bytes that must cross the memory bus once: each operand read or written one time.
Bytes least_traffic(const Kernel& kernel, Precision precision);

}  // namespace gpuscale
