// The memory tables of T. Dettmers' guide of June 2016. A layer counts twice, activation and
// error; the input once. MB there is 2^20 bytes.

#include <cmath>

#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr double kMiB = 1048576.0;

double both_in_mib(const LayerWork& layer) { return 2.0 * layer.output.count() / kMiB; }

LayerSpec filters(std::int64_t out, std::int64_t side = 3, std::int64_t stride = 1) {
  return {ConvolutionLayer{.out = out, .kernel = {side, side}, .stride = {stride, stride}}};
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("128 images of 250x250 through 32 64 and 96 filters take the derived memory") {
    const ModelWork work =
        lowered(image(3, 250, 250), {filters(32), filters(64), filters(96), {FlattenLayer{}}}, {.batch = 128});
    CHECK(std::round(128.0 * work.input.count() / kMiB * 10) / 10 == 91.6);
    CHECK(both_in_mib(work.layers[0]) == 2.0 * 128 * 32 * 248 * 248 * 4 / kMiB);
    const double derived[] = {1922, 3782, 5581};
    const double printed[] = {1906, 3720, 5444};  // with an output side of n-3
    for (std::size_t layer = 0; layer < 3; ++layer) {
      CAPTURE(layer);
      CHECK(std::floor(both_in_mib(work.layers[layer])) == derived[layer]);
      CHECK(both_in_mib(work.layers[layer]) == doctest::Approx(printed[layer]).epsilon(0.03));
    }
  }

  TEST_CASE("stride and pooling shrink memory as printed") {
    // The printed 952 fits 64 filters of stride 2 in the first layer (with a side of 123.5).
    const ModelWork work = lowered(
        image(3, 250, 250),
        {filters(64, 3, 2), {PoolLayer{.kernel = {2, 2}}}, filters(64), filters(96), filters(32, 1), {FlattenLayer{}}},
        {.batch = 128});
    const double sides[] = {124, 62, 60, 58, 58};
    const double channels[] = {64, 64, 64, 96, 32};
    const double printed[] = {952, 238, 240, 340, 113};
    for (std::size_t layer = 0; layer < 5; ++layer) {
      CAPTURE(layer);
      CHECK(both_in_mib(work.layers[layer]) == 2.0 * 128 * channels[layer] * sides[layer] * sides[layer] * 4 / kMiB);
      CHECK(both_in_mib(work.layers[layer]) == doctest::Approx(printed[layer]).epsilon(0.08));
    }
    CHECK(work.layers[0].output == 4.0 * work.layers[1].output);
    CHECK(work.layers[3].output == 3.0 * work.layers[4].output);
  }

  TEST_CASE("a 1x1 convolution keeps the image and changes the channels") {
    const ModelWork work = lowered(image(256, 64, 64), {filters(96, 1), {FlattenLayer{}}});
    CHECK(work.layers[0].out == image(96, 64, 64));
  }

  TEST_CASE("half the batch and half the bits each halve activations") {
    const std::vector<LayerSpec> layers = {filters(32), filters(64), {FlattenLayer{}}};
    const auto outputs = [&](std::int64_t batch, Precision precision) {
      const ModelWork work = lowered(image(3, 64, 64), layers, {.batch = batch, .precision = precision});
      return work.layers[0].output + work.layers[1].output;
    };
    CHECK(outputs(128, Precision::fp32) == 2.0 * outputs(64, Precision::fp32));
    CHECK(outputs(128, Precision::fp32) == 2.0 * outputs(128, Precision::fp16));
    CHECK(outputs(128, Precision::fp32) == 4.0 * outputs(64, Precision::bf16));
    CHECK(outputs(8, Precision::tf32) == outputs(8, Precision::fp32));
    CHECK(outputs(8, Precision::fp8) == outputs(8, Precision::bf16));
  }
}
