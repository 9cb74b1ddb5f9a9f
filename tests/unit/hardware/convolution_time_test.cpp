#include <doctest/doctest.h>

#include "cards.hpp"
#include "hardware/kernel_time.hpp"

using namespace gpuscale;
using namespace gpuscale::literals;
using gpuscale::test::perfect_card;
using gpuscale::test::round_card;

namespace {

/// A square layer that keeps its size: `side` pixels, stride 1.
ConvolutionKernel square(std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t side,
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

constexpr Pass kPasses[] = {Pass::forward, Pass::backward_data, Pass::backward_weights};

}  // namespace

TEST_SUITE("hardware") {
  TEST_CASE("a one by one convolution without losses is a matrix product") {
    const Gpu card = perfect_card();
    const ConvolutionKernel layer = square(16, 256, 512, 28, 1);
    const GemmKernel product{.m = 16 * 28 * 28, .n = 512, .k = 256};
    CHECK(convolution_time(card, layer, Precision::fp32) == gemm_time(card, product, Precision::fp32));
  }

  TEST_CASE("Winograd makes a wide three by three layer faster than its operations at peak") {
    Gpu card = perfect_card();
    const ConvolutionKernel layer = square(32, 256, 256, 56, 3);
    const Seconds direct = convolution_time(card, layer, Precision::fp32);
    CHECK(direct >= flop(layer) / FlopPerSecond(10e12) * (1 - 1e-12));
    card.family.convolution.winograd = {.forward = 1.0, .backward_data = 1.0, .backward_weights = 1.0};
    const Seconds transformed = convolution_time(card, layer, Precision::fp32);
    CHECK(transformed < direct * 0.6);
    CHECK(transformed > direct / 4.0);  // F(4x4, 3x3) saves a factor 4
  }

  TEST_CASE("Winograd does not apply to strides or groups or matrix units") {
    Gpu plain = perfect_card();
    Gpu winograd = plain;
    winograd.family.convolution.winograd = {.forward = 1.0, .backward_data = 1.0, .backward_weights = 1.0};
    ConvolutionKernel strided = square(8, 64, 64, 56, 3);
    strided.out_height = strided.out_width = 28;
    strided.stride_height = strided.stride_width = 2;
    ConvolutionKernel grouped = square(8, 64, 64, 56, 3);
    grouped.groups = 2;
    for (const ConvolutionKernel& layer : {strided, grouped, square(8, 64, 64, 56, 7)}) {
      CHECK(convolution_time(plain, layer, Precision::fp32) == convolution_time(winograd, layer, Precision::fp32));
    }
    const ConvolutionKernel layer = square(8, 64, 64, 56, 3);
    CHECK(convolution_time(plain, layer, Precision::fp16) == convolution_time(winograd, layer, Precision::fp16));
  }

  TEST_CASE("no layer beats the memory bandwidth") {
    const Gpu card = round_card();
    for (const Pass pass : kPasses) {
      for (const std::int64_t channels : {1, 3, 16, 64, 512}) {
        for (const std::int64_t window : {1, 3, 5, 7}) {
          CAPTURE(channels);
          CAPTURE(window);
          ConvolutionKernel layer = square(4, channels, 64, 28, window);
          layer.pass = pass;
          for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16}) {
            CHECK(convolution_time(card, layer, precision) > least_traffic(layer, precision) / card.memory_bandwidth);
          }
        }
      }
    }
  }

  TEST_CASE("a larger batch never takes less time and less time per image") {
    const Gpu card = round_card();
    for (const Pass pass : kPasses) {
      for (const Precision precision : {Precision::fp32, Precision::fp16}) {
        ConvolutionKernel small = square(4, 64, 64, 56, 3);
        small.pass = pass;
        ConvolutionKernel large = small;
        large.batch = 64;
        const Seconds one = convolution_time(card, small, precision);
        const Seconds sixteen = convolution_time(card, large, precision);
        CHECK(sixteen >= one);
        CHECK(sixteen <= one * 16);
      }
    }
  }

  TEST_CASE("a depthwise layer is cheaper than the dense one") {
    const Gpu card = round_card();
    for (const Pass pass : kPasses) {
      ConvolutionKernel layer = square(32, 256, 256, 14, 3);
      layer.pass = pass;
      const Seconds dense = convolution_time(card, layer, Precision::fp16);
      layer.groups = 256;
      CHECK(convolution_time(card, layer, Precision::fp16) < dense);
      CHECK(convolution_time(card, layer, Precision::fp16) >
            least_traffic(layer, Precision::fp16) / card.memory_bandwidth);
    }
  }

  TEST_CASE("three input channels cost matrix units as much as eight") {
    const Gpu card = perfect_card();
    const ConvolutionKernel three = square(16, 3, 64, 112, 7);
    const ConvolutionKernel eight = square(16, 8, 64, 112, 7);
    CHECK(convolution_time(card, three, Precision::fp16) == convolution_time(card, eight, Precision::fp16));
  }

  TEST_CASE("tf32 is never slower than fp32 with the same family") {
    const Gpu card = round_card();
    for (const std::int64_t channels : {16, 64, 256}) {
      CAPTURE(channels);
      const ConvolutionKernel layer = square(16, channels, channels, 28, 3);
      CHECK(convolution_time(card, layer, Precision::tf32) <= convolution_time(card, layer, Precision::fp32));
    }
  }

  TEST_CASE("the passes have their own rates") {
    Gpu card = perfect_card();
    card.family.convolution.vector.rate = {.forward = 1.0, .backward_data = 0.5, .backward_weights = 0.25};
    ConvolutionKernel layer = square(32, 1280, 1280, 16, 1);
    const Seconds forward = convolution_time(card, layer, Precision::fp32);
    layer.pass = Pass::backward_data;
    CHECK(convolution_time(card, layer, Precision::fp32).count() == doctest::Approx(2 * forward.count()).epsilon(1e-9));
    layer.pass = Pass::backward_weights;
    CHECK(convolution_time(card, layer, Precision::fp32) > forward * 3.9);
  }
}
