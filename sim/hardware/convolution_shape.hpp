#pragma once

/// \file
/// A convolution in real numbers, for the functions that give its algorithms their times.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hardware/convolution_algorithm.hpp"
#include "hardware/family.hpp"
#include "hardware/kernel.hpp"

namespace gpuscale {

constexpr double real(std::int64_t count) { return static_cast<double>(count); }

/// Sizes of a convolution as real numbers, per group.
struct ConvolutionShape {
  double in;  // channels
  double out;
  double window;  // kernel height x width
  double input_pixels;
  double output_pixels;  // of the whole batch
  double groups;
  double stride;  // height x width
};

inline ConvolutionShape shape_of(const ConvolutionKernel& k) {
  return {.in = real(k.in_channels) / real(k.groups),
          .out = real(k.out_channels) / real(k.groups),
          .window = real(k.kernel_height) * real(k.kernel_width),
          .input_pixels = real(k.batch) * real(k.height) * real(k.width),
          .output_pixels = real(k.batch) * real(k.out_height) * real(k.out_width),
          .groups = real(k.groups),
          .stride = real(k.stride_height) * real(k.stride_width)};
}

/// Windows of neighbouring pixels overlap: what one of them loaded, the caches have for the others.
inline double fetched_share(const ConvolutionShape& shape) {
  return std::sqrt(std::min(1.0, shape.stride / shape.window));
}

constexpr double factor_of(const PassEfficiency& efficiency, Pass pass) {
  switch (pass) {
    case Pass::forward:
      return efficiency.forward;
    case Pass::backward_data:
      return efficiency.backward_data;
    case Pass::backward_weights:
      return efficiency.backward_weights;
  }
  return 1.0;
}

/// One way to do the arithmetic of a convolution.
struct ConvolutionWay {
  ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::implicit_gemm;
  Seconds arithmetic = {};
  Bytes workspace = {};
};

}  // namespace gpuscale
