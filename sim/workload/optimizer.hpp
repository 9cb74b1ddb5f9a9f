#pragma once

/// \file
/// What an optimizer keeps per parameter and moves per update.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hardware/kernel.hpp"
#include "hardware/precision.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// adam_8bit keeps both moments in eight bits with an fp32 maximum a block of 2048 (Dettmers et al. 2021,
/// arXiv:2110.02861; Adam8bit of bitsandbytes).
enum class Optimizer { sgd, sgd_momentum, adam, adamw, lamb, adam_8bit };
inline constexpr std::array<std::string_view, 6> kOptimizerNames = {"sgd",   "sgd_momentum", "adam",
                                                                    "adamw", "lamb",         "adam_8bit"};
constexpr std::string_view name(Optimizer optimizer) { return kOptimizerNames[static_cast<std::size_t>(optimizer)]; }

/// Numbers kept per parameter besides weight and gradient: 0, 1 or 2, each four bytes (eight in fp64; one in
/// adam_8bit).
int state_numbers(Optimizer optimizer);

/// Bytes of optimizer state per parameter, without master weights.
Bytes state_size(Optimizer optimizer, Precision precision);

/// Whether tensors of this precision are narrower than fp32, so that training keeps an fp32 copy of
/// the weights unless told otherwise.
bool has_master_weights(Precision precision);

/// Memory traffic of one update of one parameter. With master weights: the gradient and the weight
/// in `precision`, the fp32 copy read and written.
Bytes update_traffic(Optimizer optimizer, Precision precision, bool master_weights);

/// An update that a framework writes out in simpler operators on fp32 tensors, instead of one kernel.
struct WrittenOutUpdate {
  double passes = 0.0;       ///< tensors read or written; > 0
  std::int64_t kernels = 1;  ///< of one tensor; >= 1

  bool operator==(const WrittenOutUpdate&) const = default;
};

/// How a framework runs an update.
struct UpdateHabit {
  bool fused = false;  ///< one launch of a kernel is for all tensors
  std::optional<WrittenOutUpdate> written_out = {};

  bool operator==(const UpdateHabit&) const = default;
};

/// One update of `parameters` numbers in `tensors` tensors. Frameworks launch per tensor, or once
/// for many tensors if `fused`. A written-out update with master weights casts the gradient to fp32 and the weight
/// back.
StreamKernel optimizer_update(Optimizer optimizer, std::int64_t parameters, std::int64_t tensors, Precision precision,
                              bool master_weights, const UpdateHabit& habit);

}  // namespace gpuscale
