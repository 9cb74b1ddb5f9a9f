#include "hardware/convolution_algorithm.hpp"

#include <cmath>
#include <doctest/doctest.h>

#include "cards.hpp"
#include "hardware/kernel_time.hpp"
#include "hardware/product.hpp"
#include "layers.hpp"

using namespace gpuscale;
using gpuscale::test::perfect_card;
using gpuscale::test::square;

namespace {

Gpu card_with_fft() {
  Gpu card = perfect_card();
  card.family.convolution.fft = {.forward = 1.0, .backward_data = 1.0, .backward_weights = 1.0};
  return card;
}

constexpr double kPoints = 32.0 * 17.0;  // half a spectrum of a tile of 32 x 32

ConvolutionChoice within(const Gpu& card, ConvolutionKernel layer, Bytes workspace) {
  layer.habit.workspace = workspace;
  return choose_convolution(card, layer, Precision::fp32);
}

}  // namespace

TEST_SUITE("hardware") {
  TEST_CASE("Winograd kernels without workspace have a rate of their own and make no gradients of weights") {
    Gpu card = perfect_card();
    card.family.convolution.winograd = {.forward = 1.0, .backward_data = 1.0, .backward_weights = 1.0};
    ConvolutionKernel layer = square(32, 64, 56, 3);
    const ConvolutionChoice fused = choose_convolution(card, layer, Precision::fp32);
    CHECK(fused.algorithm == ConvolutionAlgorithm::winograd);
    CHECK(fused.workspace == Bytes());
    // 28 x 28 tiles an image, 32 a block: 784 blocks on 20 multiprocessors, 16 products of 32 x 64 x 64 each.
    CHECK(fused.time.count() ==
          doctest::Approx(std::ceil(784.0 / 20.0) * 20.0 * 2.0 * 16 * 32 * 64 * 64 / 10e12).epsilon(1e-12));
    // Transformed tensors pay where channels are many.
    card.family.convolution.unfused_winograd.forward = 1.0;
    CHECK(choose_convolution(card, layer, Precision::fp32).algorithm == ConvolutionAlgorithm::winograd);
    CHECK(choose_convolution(card, square(32, 512, 56, 3), Precision::fp32).algorithm ==
          ConvolutionAlgorithm::unfused_winograd);
    layer.pass = Pass::backward_weights;
    CHECK(choose_convolution(card, layer, Precision::fp32).algorithm == ConvolutionAlgorithm::implicit_gemm);
  }

  TEST_CASE("an FFT convolution takes its transforms and a complex product a point") {
    const Gpu card = card_with_fft();
    // A window of 17 leaves 16 x 16 pixels of a tile of 32 x 32: four tiles an image of 32 x 32.
    const double tiles = 8.0 * 4.0;
    const double planes = tiles * (64 + 64) + 64.0 * 64.0;
    for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights}) {
      ConvolutionKernel layer = square(8, 64, 32, 17);
      layer.pass = pass;
      const ConvolutionChoice choice = choose_convolution(card, layer, Precision::fp32);
      REQUIRE(choice.algorithm == ConvolutionAlgorithm::fft);
      const Bytes spectra(planes * kPoints * 8.0);
      CHECK(choice.workspace == spectra);
      const Bytes plain(planes * 1024.0 * 4.0);
      const Seconds bytes = (spectra + plain) / card.memory_bandwidth;
      const Seconds arithmetic = Flop(planes * 2.5 * 1024.0 * 10.0) / FlopPerSecond(10e12);
      // A complex product is a real one twice as wide and twice as deep.
      Product product{.m = tiles, .n = 128, .k = 128, .batch = kPoints};
      if (pass == Pass::backward_weights) product = {.m = 64, .n = 128, .k = 2.0 * tiles, .batch = kPoints};
      ProductUnits units = product_units(card, Precision::fp32);
      units.narrowest_tile = 32.0;
      const Seconds multiplied = std::max(product_time(card, units, product), spectra / card.memory_bandwidth);
      CHECK(choice.time.count() == doctest::Approx((std::max(bytes, arithmetic) + multiplied).count()).epsilon(1e-12));
    }
  }

  TEST_CASE("an FFT saves arithmetic where windows are large") {
    const Gpu plain = perfect_card();
    const Gpu fft = card_with_fft();
    double gain = 0.0;
    for (const std::int64_t window : {3, 7, 11, 15}) {
      CAPTURE(window);
      const ConvolutionKernel layer = square(32, 256, 56, window);
      const double now =
          convolution_time(plain, layer, Precision::fp32) / convolution_time(fft, layer, Precision::fp32);
      CHECK(now > gain);
      gain = now;
    }
    CHECK(gain > 10.0);
  }

  TEST_CASE("an FFT does not apply to strides or groups or single pixels or matrix units") {
    const Gpu plain = perfect_card();
    const Gpu fft = card_with_fft();
    ConvolutionKernel strided = square(8, 64, 56, 11);
    strided.out_height = strided.out_width = 28;
    strided.stride_height = strided.stride_width = 2;
    ConvolutionKernel grouped = square(8, 64, 56, 11);
    grouped.groups = 2;
    for (const ConvolutionKernel& layer : {strided, grouped, square(8, 64, 56, 1), square(8, 64, 56, 33)}) {
      CHECK(convolution_time(plain, layer, Precision::fp32) == convolution_time(fft, layer, Precision::fp32));
    }
    const ConvolutionKernel layer = square(8, 64, 56, 11);
    CHECK(convolution_time(plain, layer, Precision::fp16) == convolution_time(fft, layer, Precision::fp16));
  }

  TEST_CASE("what the fastest algorithm asks for and does not get makes the next one the best") {
    Gpu card = card_with_fft();
    card.family.convolution.unfused_winograd = {.forward = 1.0, .backward_data = 1.0, .backward_weights = 1.0};
    card.family.convolution.fft.forward = 0.3;
    const ConvolutionKernel layer = square(32, 256, 56, 5);
    // F(5x5, 5x5): 81 points, 144 tiles an image; transformed input, output and weights.
    const Bytes winograd(81.0 * (32.0 * 144.0 * 512.0 + 256.0 * 256.0) * 4.0);
    const ConvolutionChoice free = choose_convolution(card, layer, Precision::fp32);
    CHECK(free.algorithm == ConvolutionAlgorithm::unfused_winograd);
    CHECK(free.workspace == winograd);
    const ConvolutionChoice less = within(card, layer, Bytes(winograd.count() - 1.0));
    CHECK(less.algorithm == ConvolutionAlgorithm::fft);
    CHECK(less.workspace < winograd);
    CHECK(less.time > free.time);
    const ConvolutionChoice none = within(card, layer, Bytes());
    CHECK(none.algorithm == ConvolutionAlgorithm::implicit_gemm);
    CHECK(none.workspace == Bytes());
    CHECK(none.time > less.time);
  }

  TEST_CASE("more workspace never makes a layer slower and none is asked for without gain") {
    Gpu card = card_with_fft();
    card.family.convolution.winograd = {.forward = 1.0, .backward_data = 1.0, .backward_weights = 0.0};
    card.family.convolution.unfused_winograd = {.forward = 1.0, .backward_data = 1.0, .backward_weights = 1.0};
    for (const std::int64_t window : {1, 3, 5, 7}) {
      CAPTURE(window);
      const ConvolutionKernel layer = square(16, 64, 28, window);
      ConvolutionChoice before = within(card, layer, Bytes());
      for (const double mebibytes : {1.0, 8.0, 64.0, 512.0, 4096.0}) {
        const ConvolutionChoice now = within(card, layer, Bytes(mebibytes * 1048576.0));
        CHECK(now.workspace <= Bytes(mebibytes * 1048576.0));
        CHECK((now.time < before.time || now.workspace == before.workspace));
        before = now;
      }
    }
  }

  TEST_CASE("tensors are turned for matrix units where there is room and stay with the vector units where not") {
    const Gpu card = perfect_card();
    ConvolutionKernel layer = square(32, 128, 28, 3);
    layer.habit.channels_first = true;
    const Bytes tensors(32.0 * 28 * 28 * (128 + 128) * 2);
    layer.habit.workspace = tensors;
    const ConvolutionChoice turned = choose_convolution(card, layer, Precision::fp16);
    CHECK(turned.workspace == tensors);
    layer.habit.workspace = Bytes(tensors.count() - 1.0);
    const ConvolutionChoice plain = choose_convolution(card, layer, Precision::fp16);
    CHECK(plain.workspace == Bytes());
    CHECK(plain.time > turned.time);
    CHECK(plain.time >= flop(layer) / FlopPerSecond(10e12) * (1 - 1e-12));
  }
}
