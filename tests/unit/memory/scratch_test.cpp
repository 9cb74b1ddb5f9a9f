#include "memory/scratch.hpp"

#include <doctest/doctest.h>

#include "hardware/convolution_algorithm.hpp"
#include "memory/footprint.hpp"

using namespace gpuscale;

namespace {

/// 10 TFLOP/s on 20 multiprocessors at 1 GHz, 500 GB/s, and what a family reaches that nobody measured.
Gpu card() {
  Gpu gpu;
  gpu.peak[static_cast<std::size_t>(Precision::fp32)] = FlopPerSecond(10e12);
  gpu.memory_bandwidth = BytesPerSecond(500e9);
  gpu.multiprocessors = 20;
  gpu.boost_clock = Hertz(1e9);
  return gpu;
}

ConvolutionKernel layer_of(std::int64_t window) {
  return {.batch = 32,
          .in_channels = 256,
          .height = 28,
          .width = 28,
          .out_channels = 256,
          .out_height = 28,
          .out_width = 28,
          .kernel_height = window,
          .kernel_width = window};
}

}  // namespace

TEST_SUITE("memory") {
  TEST_CASE("scratch is that of the algorithm which the kernel's time is of") {
    const Gpu gpu = card();
    ModelWork work;
    work.layers.resize(3);
    work.layers[0].forward = {layer_of(5)};
    work.layers[1].forward = {layer_of(1)};
    ConvolutionKernel weights = layer_of(5);
    weights.pass = Pass::backward_weights;
    work.layers[2].forward = {layer_of(1)};
    work.layers[2].backward = {weights, StreamKernel{.moved = Bytes(1e6)}};
    const std::vector<Bytes> scratch = convolution_scratch(work, gpu, Precision::fp32);
    REQUIRE(scratch.size() == 3);
    // F(5x5, 5x5): 81 points, 36 tiles an image; transformed input, output and weights.
    const Bytes winograd(81.0 * (32.0 * 36.0 * 512.0 + 256.0 * 256.0) * 4.0);
    CHECK(scratch == std::vector<Bytes>{winograd, Bytes(), winograd});
    const Footprint with = footprint(work, {{.first = 0, .last = 3}}, {.scratch = scratch});
    const Footprint without = footprint(work, {{.first = 0, .last = 3}}, {});
    CHECK(with.workspace == winograd);  // layers share one workspace
    CHECK(with.total() == without.total() + winograd);
    for (LayerWork& layer : work.layers) {
      for (std::vector<Kernel>* kernels : {&layer.forward, &layer.backward}) {
        for (Kernel& kernel : *kernels) {
          if (auto* convolution = std::get_if<ConvolutionKernel>(&kernel)) convolution->habit.workspace = Bytes();
        }
      }
    }
    CHECK(convolution_scratch(work, gpu, Precision::fp32) == std::vector<Bytes>(3));
  }
}
