#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

TEST_SUITE("workload") {
  TEST_CASE("the first convolution of AlexNet has its published shape and cost") {
    // Krizhevsky et al. 2012: 96 kernels of 11x11x3 with stride 4 on 227x227 give 55x55.
    const ModelWork work =
        lowered(image(3, 227, 227), {{ConvolutionLayer{.out = 96, .kernel = {11, 11}, .stride = {4, 4}}},
                                     {ActivationLayer{}},
                                     {PoolLayer{.kernel = {3, 3}, .stride = Extent{2, 2}}},
                                     {FlattenLayer{}}});
    CHECK(work.layers[0].out == image(96, 55, 55));
    CHECK(work.layers[2].out == image(96, 27, 27));
    CHECK(work.layers[3].out == features(69984));
    CHECK(parameter_count(work) == 11 * 11 * 3 * 96 + 96);
    CHECK(forward_flop_per_sample(work) == Flop(2.0 * 55 * 55 * 96 * 11 * 11 * 3));
  }

  TEST_CASE("window arithmetic follows stride padding and rounding") {
    struct Row {
      const char* name;
      std::int64_t input;
      LayerKind layer;
      std::int64_t output;
    };
    const Row rows[] = {
        {"ResNet stem", 224, ConvolutionLayer{.out = 1, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}}, 112},
        {"valid", 250, ConvolutionLayer{.out = 1, .kernel = {3, 3}}, 248},
        {"same with stride", 7, ConvolutionLayer{.out = 1, .kernel = {3, 3}, .stride = {2, 2}, .same_padding = true},
         4},
        {"same keeps the side", 5, ConvolutionLayer{.out = 1, .kernel = {9, 9}, .same_padding = true}, 5},
        {"pool rounds down", 112, PoolLayer{.kernel = {3, 3}, .stride = Extent{2, 2}}, 55},
        {"GoogLeNet pool rounds up", 112, PoolLayer{.kernel = {3, 3}, .stride = Extent{2, 2}, .ceil = true}, 56},
        {"last window starts inside", 4,
         PoolLayer{.kernel = {2, 2}, .stride = Extent{3, 3}, .padding = {1, 1}, .ceil = true}, 2},
        {"stride is the kernel", 8, PoolLayer{.kind = PoolKind::average, .kernel = {2, 2}}, 4},
    };
    for (const Row& row : rows) {
      CAPTURE(row.name);
      const ModelWork work = lowered(image(1, row.input, row.input), {{row.layer}, {FlattenLayer{}}});
      CHECK(work.layers[0].out == image(1, row.output, row.output));
    }
  }

  TEST_CASE("sides of an image are kept apart") {
    // Inception-v3 factorises 7x7 into 1x7 and 7x1.
    const ModelWork work =
        lowered(image(8, 17, 9), {{ConvolutionLayer{.out = 4, .kernel = {1, 7}, .padding = {0, 3}, .bias = false}},
                                  {ConvolutionLayer{.out = 4, .kernel = {7, 1}, .stride = {2, 1}, .bias = false}},
                                  {FlattenLayer{}}});
    CHECK(work.layers[0].out == image(4, 17, 9));
    CHECK(work.layers[1].out == image(4, 6, 9));
    CHECK(parameter_count(work) == 8 * 4 * 7 + 4 * 4 * 7);
  }

  TEST_CASE("groups divide weights and arithmetic") {
    const ModelWork whole =
        lowered(image(96, 27, 27), {{ConvolutionLayer{.out = 256, .kernel = {5, 5}, .bias = false}}, {FlattenLayer{}}});
    const ModelWork halves =
        lowered(image(96, 27, 27),
                {{ConvolutionLayer{.out = 256, .kernel = {5, 5}, .groups = 2, .bias = false}}, {FlattenLayer{}}});
    CHECK(parameter_count(halves) == 5 * 5 * 48 * 256);
    CHECK(parameter_count(whole) == 2 * parameter_count(halves));
    CHECK(forward_flop_per_sample(whole) == 2.0 * forward_flop_per_sample(halves));
  }

  TEST_CASE("only the first layer needs no errors of its input") {
    const ModelWork work = lowered(image(3, 8, 8), {{ConvolutionLayer{.out = 4, .kernel = {3, 3}, .bias = false}},
                                                    {ConvolutionLayer{.out = 4, .kernel = {3, 3}, .bias = false}},
                                                    {FlattenLayer{}}});
    const auto first = only<ConvolutionKernel>(work.layers[0].backward);
    const auto second = only<ConvolutionKernel>(work.layers[1].backward);
    REQUIRE(first.size() == 1);
    CHECK(first[0].pass == Pass::backward_weights);
    REQUIRE(second.size() == 2);
    CHECK(second[0].pass == Pass::backward_data);
    CHECK(second[1].pass == Pass::backward_weights);
  }

  TEST_CASE("a bias costs a pass over the output and its gradient another unless fused") {
    const std::vector<LayerSpec> layers = {{ConvolutionLayer{.out = 4, .kernel = {3, 3}, .padding = {1, 1}}},
                                           {FlattenLayer{}}};
    const Bytes output(4.0 * 4 * 8 * 8);
    const ModelWork plain = lowered(image(3, 8, 8), layers);
    CHECK(moved(plain.layers[0].forward) == 2.0 * output);
    CHECK(moved(plain.layers[0].backward) == output);
    const ModelWork fused = lowered(image(3, 8, 8), layers, {.fused_elementwise = true});
    CHECK(moved(fused.layers[0].forward) == Bytes());
    CHECK(moved(fused.layers[0].backward) == Bytes());
  }

  TEST_CASE("a tensor group divides a convolution by output channels and gathers them") {
    const std::vector<LayerSpec> layers = {{ConvolutionLayer{.out = 64, .kernel = {3, 3}, .padding = {1, 1}}},
                                           {ConvolutionLayer{.out = 63, .kernel = {1, 1}}},
                                           {GlobalAveragePoolLayer{}}};
    const ModelWork whole = lowered(image(32, 8, 8), layers, {.batch = 4});
    const ModelWork half = lowered(image(32, 8, 8), layers, {.batch = 4, .tensor = 2});
    CHECK(parameter_count(whole.layers[0]) == 2 * parameter_count(half.layers[0]));
    CHECK(whole.layers[0].forward_flop == 2.0 * half.layers[0].forward_flop);
    CHECK(half.layers[0].out == whole.layers[0].out);
    const LayerExchange gather{.what = LayerCollective::all_gather, .size = Bytes(4.0 * 4 * 64 * 8 * 8)};
    CHECK(half.layers[0].forward_exchanges == std::vector<LayerExchange>{gather});
    CHECK(half.layers[0].backward_exchanges.empty());  // nobody wants the errors of the input
    CHECK(half.layers[1].forward_exchanges.empty());   // 63 channels do not divide
    CHECK(parameter_count(whole.layers[1]) == parameter_count(half.layers[1]));
  }
}
