#pragma once

#include "hardware/kernel.hpp"

namespace gpuscale::test {

/// A square layer that keeps its size: `side` pixels, stride 1.
inline ConvolutionKernel square(std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t side,
                                std::int64_t window) {
  return {.batch = batch,
          .in_channels = in,
          .height = side,
          .width = side,
          .out_channels = out,
          .out_height = side,
          .out_width = side,
          .kernel_height = window,
          .kernel_width = window};
}

/// The same with as many channels out as in.
inline ConvolutionKernel square(std::int64_t batch, std::int64_t channels, std::int64_t side, std::int64_t window) {
  return square(batch, channels, channels, side, window);
}

}  // namespace gpuscale::test
