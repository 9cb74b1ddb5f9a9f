#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

TEST_SUITE("workload") {
  TEST_CASE("a transposed convolution is a convolution run backwards") {
    // U-Net's way up: 1024 channels of 32x32 to 512 of 64x64.
    const TransposedConvolutionLayer up{.out = 512, .kernel = {2, 2}, .stride = {2, 2}};
    const ModelWork work =
        lowered(image(3, 32, 32), {{ConvolutionLayer{.out = 1024}}, {up}, {FlattenLayer{}}}, {.batch = 2});
    const LayerWork& layer = work.layers[1];
    CHECK(layer.out == image(512, 64, 64));
    CHECK(parameter_count(layer) == 1024.0 * 512 * 4 + 512);
    CHECK(layer.forward_flop == Flop(2.0 * 2 * 1024 * 512 * 4 * 32 * 32));
    CHECK(only<ConvolutionKernel>(layer.forward)[0].pass == Pass::backward_data);
    const auto backward = only<ConvolutionKernel>(layer.backward);
    REQUIRE(backward.size() == 2);
    CHECK(backward[0].pass == Pass::forward);
    CHECK(backward[1].pass == Pass::backward_weights);
  }

  TEST_CASE("a transposed convolution of the model's input gives no errors back") {
    const ModelWork work = lowered(image(3, 4, 4), {{TransposedConvolutionLayer{.out = 2}}, {FlattenLayer{}}});
    CHECK(only<ConvolutionKernel>(work.layers[0].backward).size() == 1);
  }

  TEST_CASE("padding and stride undo those of the convolution") {
    const TransposedConvolutionLayer up{.out = 1, .kernel = {4, 3}, .stride = {2, 1}, .padding = {1, 1}};
    CHECK(lowered(image(1, 5, 7), {{up}, {FlattenLayer{}}}).layers[0].out == image(1, 10, 7));
  }

  TEST_CASE("blocks of pixels become channels") {
    const ModelWork work = lowered(image(80, 1, 16), {{SpaceToDepthLayer{{1, 8}}}, {FlattenLayer{}}});
    CHECK(work.layers[0].out == image(640, 1, 2));
  }

  TEST_CASE("a gated tanh halves the channels and so does keeping the first of them") {
    const ModelWork gated = lowered(image(8, 1, 4), {{GatedTanhLayer{}}, {FlattenLayer{}}});
    CHECK(gated.layers[0].out == image(4, 1, 4));
    CHECK(moved(gated.layers[0].forward) == Bytes(3.0 * 4 * 16));
    const ModelWork first = lowered(image(8, 1, 4), {{FirstChannelsLayer{4}}, {FlattenLayer{}}});
    CHECK(first.layers[0].out == image(4, 1, 4));
    CHECK(moved(first.layers[0].forward) == Bytes(2.0 * 4 * 16));
  }
}
