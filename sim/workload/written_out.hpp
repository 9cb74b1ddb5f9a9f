#pragma once

/// \file
/// Operators that a framework has no kernel of its own for. It writes them out in simpler ones, each of which reads and
/// writes whole tensors: TensorFlow 1 makes a GELU of eight kernels. Which are written out, and in how many passes, is
/// data of a framework (workloads/frameworks).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hardware/kernel.hpp"
#include "hardware/precision.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// What stands in for one kernel forward and one backward. A pass reads or writes one tensor of the operator's size.
struct WrittenOut {
  double forward = 0.0;               ///< passes; >= 0
  double backward = 0.0;              ///< passes; >= 0
  double forward_wide = 0.0;          ///< of them, those over fp32 numbers in 16-bit training, too; [0, forward]
  double backward_wide = 0.0;         ///< the same backward
  std::int64_t casts = 0;             ///< in 16-bit training: casts of such a tensor to or from fp32, each way
  std::int64_t forward_kernels = 1;   ///< without casts; >= 0
  std::int64_t backward_kernels = 1;  ///< without casts; >= 0
  /// Tensors kept for the backward pass that one kernel would not keep; in fp32 if all of the forward pass is.
  double kept = 0.0;

  bool operator==(const WrittenOut&) const = default;
};

/// The operators of a model that a framework may write out; empty: it has a kernel.
struct WrittenOutOperators {
  std::optional<WrittenOut> gelu = {};       ///< by error function
  std::optional<WrittenOut> gelu_tanh = {};  ///< by hyperbolic tangent, as published code of BERT and GPT-2 has it
  std::optional<WrittenOut> silu = {};
  std::optional<WrittenOut> batch_norm = {};
  std::optional<WrittenOut> layer_norm = {};
  std::optional<WrittenOut> rms_norm = {};
  std::optional<WrittenOut> dropout = {};  ///< of hidden tensors and of attention's probabilities
  std::optional<WrittenOut> scores = {};   ///< scale, mask and softmax of attention's scores
  std::optional<WrittenOut> heads = {};    ///< queries, keys, values by heads and back: passes over one of them
  std::optional<WrittenOut> bias = {};     ///< of matrix products; its gradient is counted with the product

  bool operator==(const WrittenOutOperators&) const = default;
};

/// An operator by the name it has in files.
struct WrittenOutName {
  std::string_view name;
  std::optional<WrittenOut> WrittenOutOperators::*operators;
};

inline constexpr std::array<WrittenOutName, 10> kWrittenOutNames = {{{"gelu", &WrittenOutOperators::gelu},
                                                                     {"gelu_tanh", &WrittenOutOperators::gelu_tanh},
                                                                     {"silu", &WrittenOutOperators::silu},
                                                                     {"batch_norm", &WrittenOutOperators::batch_norm},
                                                                     {"layer_norm", &WrittenOutOperators::layer_norm},
                                                                     {"rms_norm", &WrittenOutOperators::rms_norm},
                                                                     {"dropout", &WrittenOutOperators::dropout},
                                                                     {"scores", &WrittenOutOperators::scores},
                                                                     {"heads", &WrittenOutOperators::heads},
                                                                     {"bias", &WrittenOutOperators::bias}}};

/// Its kernels for a tensor of this many numbers, as one stream each way. `precision` is that of the training.
StreamKernel forward_stream(const WrittenOut& form, double numbers, Precision precision);
StreamKernel backward_stream(const WrittenOut& form, double numbers, Precision precision);

/// Memory of the tensors that it keeps.
Bytes kept_tensors(const WrittenOut& form, double numbers, Precision precision);

}  // namespace gpuscale
