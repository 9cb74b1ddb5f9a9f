#include <doctest/doctest.h>

#include "cards.hpp"
#include "hardware/kernel_time.hpp"
#include "layers.hpp"

using namespace gpuscale;
using namespace gpuscale::literals;
using gpuscale::test::perfect_card;
using gpuscale::test::round_card;
using gpuscale::test::square;

namespace {

constexpr PassEfficiency kAllPasses{.forward = 1.0, .backward_data = 1.0, .backward_weights = 1.0};
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
    card.family.convolution.winograd = kAllPasses;
    card.family.convolution.unfused_winograd = kAllPasses;
    const Seconds transformed = convolution_time(card, layer, Precision::fp32);
    CHECK(transformed < direct * 0.6);
    CHECK(transformed > direct / 4.0);  // F(4x4, 3x3) saves a factor 4
  }

  TEST_CASE("Winograd does not apply to strides or groups or matrix units") {
    Gpu plain = perfect_card();
    Gpu winograd = plain;
    winograd.family.convolution.winograd = kAllPasses;
    winograd.family.convolution.unfused_winograd = kAllPasses;
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

  TEST_CASE("matrix units pad images to four channels and other narrow inputs to eight") {
    const Gpu card = perfect_card();
    const auto time = [&](std::int64_t channels) {
      return convolution_time(card, square(16, channels, 512, 56, 11), Precision::fp16);
    };
    CHECK(time(3) == time(4));
    CHECK(time(1) == time(8));
    CHECK(time(5) == time(8));
    CHECK(time(3) < 0.6 * time(8));
  }

  TEST_CASE("gradients of weights are summed over the pixels in parts on vector units") {
    Gpu card = perfect_card();
    card.family.convolution.memory = 1.0;
    ConvolutionKernel layer = square(64, 64, 64, 28, 1);  // one tile of 64 x 64, 50,176 pixels deep
    layer.pass = Pass::backward_weights;
    card.family.convolution.vector.weights_split = 1.0;
    const Seconds whole = convolution_time(card, layer, Precision::fp32);
    card.family.convolution.vector.weights_split = 4.0;
    const Seconds parts = convolution_time(card, layer, Precision::fp32);
    CHECK(parts < 0.6 * whole);  // more multiprocessors at work
    // A gradient as large as the product pays for its parts: written and read, eight bytes a number and part.
    ConvolutionKernel wide = square(1, 2048, 2048, 4, 1);
    wide.pass = Pass::backward_weights;
    card.family.convolution.vector.weights_split = 1.0;
    const Seconds once = convolution_time(card, wide, Precision::fp32);
    wide.batch = 64;
    card.family.convolution.vector.weights_split = 32.0;
    CHECK(convolution_time(card, wide, Precision::fp32) > Bytes(32.0 * 2048 * 2048 * 8) / card.memory_bandwidth);
    CHECK(once > Bytes(2048.0 * 2048 * 4) / card.memory_bandwidth);  // the gradient is zeroed first
  }

  TEST_CASE("strided errors are added into zeroed memory on vector units") {
    const Gpu card = perfect_card();
    ConvolutionKernel layer = square(32, 1024, 32, 56, 1);
    layer.pass = Pass::backward_data;
    layer.out_height = layer.out_width = 28;
    layer.stride_height = layer.stride_width = 2;
    const Bytes errors(32.0 * 56 * 56 * 1024 * 4);
    CHECK(convolution_time(card, layer, Precision::fp32) > errors / card.memory_bandwidth);
    CHECK(convolution_time(card, layer, Precision::fp16) < convolution_time(card, layer, Precision::fp32));
  }

  TEST_CASE("Winograd with transforms of its own needs workspace") {
    Gpu card = perfect_card();
    card.family.convolution.unfused_winograd = kAllPasses;
    ConvolutionKernel layer = square(32, 64, 64, 28, 5);
    const Seconds roomy = convolution_time(card, layer, Precision::fp32);
    // 81 points, 36 tiles a sample, transformed input, output and weights.
    const double numbers = 81.0 * (32 * 36 * (64 + 64) + 64 * 64);
    layer.habit.workspace = Bytes(4.0 * numbers);
    CHECK(convolution_time(card, layer, Precision::fp32) == roomy);
    layer.habit.workspace = Bytes(4.0 * numbers - 1.0);
    CHECK(convolution_time(card, layer, Precision::fp32) > 1.5 * roomy);
  }

  TEST_CASE("tensors stored channel by channel are turned for matrix units and for nothing else") {
    const Gpu card = perfect_card();
    ConvolutionKernel layer = square(32, 64, 128, 28, 3);
    ConvolutionKernel first = layer;
    first.habit.channels_first = true;
    CHECK(convolution_time(card, first, Precision::fp32) == convolution_time(card, layer, Precision::fp32));
    const Bytes tensors(32.0 * 28 * 28 * (64 + 128) * 2);
    CHECK((convolution_time(card, first, Precision::fp16) - convolution_time(card, layer, Precision::fp16)).count() ==
          doctest::Approx((2.0 * (tensors / card.memory_bandwidth)).count()).epsilon(1e-9));
  }

  TEST_CASE("tensors stored pixel by pixel are turned for kernels without matrix units") {
    const Gpu card = perfect_card();
    ConvolutionKernel layer = square(32, 64, 128, 28, 3);
    ConvolutionKernel last = layer;
    last.habit.channels_last = true;
    CHECK(convolution_time(card, last, Precision::fp16) == convolution_time(card, layer, Precision::fp16));
    const Bytes tensors(32.0 * 28 * 28 * (64 + 128) * 4);
    CHECK((convolution_time(card, last, Precision::fp32) - convolution_time(card, layer, Precision::fp32)).count() ==
          doctest::Approx((2.0 * (tensors / card.memory_bandwidth)).count()).epsilon(1e-9));
    ConvolutionKernel product = square(32, 64, 128, 28, 1);
    const Seconds first = convolution_time(card, product, Precision::fp32);
    product.habit.channels_last = true;
    CHECK(convolution_time(card, product, Precision::fp32) == first);
  }

  TEST_CASE("tensors that have to be turned are turned however little memory there is") {
    const Gpu card = perfect_card();
    for (const Precision precision : {Precision::fp32, Precision::tf32}) {
      CAPTURE(name(precision));
      ConvolutionKernel layer = square(32, 64, 128, 28, 3);
      layer.habit.workspace = Bytes();
      const Seconds lies_right = convolution_time(card, layer, precision);
      layer.habit.channels_last = true;
      const Bytes tensors(32.0 * 28 * 28 * (64 + 128) * 4);
      CHECK((convolution_time(card, layer, precision) - lies_right).count() ==
            doctest::Approx((2.0 * (tensors / card.memory_bandwidth)).count()).epsilon(1e-9));
    }
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
