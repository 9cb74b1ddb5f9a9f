#pragma once

/// \file
/// Scratch memory of the algorithms that convolutions take on a card.

#include <limits>
#include <vector>

#include "hardware/gpu.hpp"
#include "hardware/precision.hpp"
#include "units/quantity.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

inline constexpr Bytes kNoLimit{std::numeric_limits<double>::infinity()};

/// By layer, the most that one of its convolutions asks for: kernels run one after the other.
/// \param limit of their workspace besides the framework's; 0 leaves tensors that have to be turned whatever is chosen
std::vector<Bytes> convolution_scratch(const ModelWork& work, const Gpu& gpu, Precision precision,
                                       Bytes limit = kNoLimit);

}  // namespace gpuscale
