#pragma once

/// \file
/// Scratch memory of the algorithms that convolutions take on a card.

#include <vector>

#include "hardware/gpu.hpp"
#include "hardware/precision.hpp"
#include "units/quantity.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// By layer, the most that one of its convolutions asks for: kernels run one after the other.
std::vector<Bytes> convolution_scratch(const ModelWork& work, const Gpu& gpu, Precision precision);

/// The same with the algorithms that need least: tensors that have to be turned for any of them.
std::vector<Bytes> least_convolution_scratch(const ModelWork& work, const Gpu& gpu, Precision precision);

}  // namespace gpuscale
