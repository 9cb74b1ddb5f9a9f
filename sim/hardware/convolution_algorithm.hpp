#pragma once

/// \file
/// Which algorithm a convolution takes on a card, and the scratch memory that it asks for while it runs.

#include <array>
#include <string_view>

#include "hardware/gpu.hpp"
#include "hardware/kernel.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

enum class ConvolutionAlgorithm { implicit_gemm, direct, winograd, unfused_winograd, fft };

inline constexpr std::array<std::string_view, 5> kConvolutionAlgorithmNames = {"implicit_gemm", "direct", "winograd",
                                                                               "unfused_winograd", "fft"};

struct ConvolutionChoice {
  ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::implicit_gemm;
  Seconds time = {};     ///< of the whole kernel, as convolution_time() has it
  Bytes workspace = {};  ///< scratch memory; 0 for implicit GEMM, direct and fused Winograd kernels
};

/// The fastest algorithm whose workspace is within `kernel.habit.workspace`; of equally fast ones that with least.
/// There is always one: some need no workspace.
ConvolutionChoice choose_convolution(const Gpu& gpu, const ConvolutionKernel& kernel, Precision precision);

}  // namespace gpuscale
