#include <set>

#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

ConvolutionLayer one_by_one(std::int64_t out) { return {.out = out, .bias = false}; }

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("a residual adds its shortcut and sums the errors where the paths part") {
    const ModelWork work =
        lowered(image(3, 8, 8),
                {{one_by_one(16)}, {ResidualLayer{.body = {{one_by_one(16)}}, .shortcut = {}}}, {FlattenLayer{}}},
                {.batch = 2});
    const Bytes tensor(4.0 * 2 * 16 * 8 * 8);
    REQUIRE(work.layers.size() == 5);
    CHECK(work.layers[1].name == "residual1.conv1");
    CHECK(work.layers[2].name == "residual1.add");
    CHECK(moved(work.layers[2].forward) == 3.0 * tensor);
    CHECK(moved(work.layers[2].backward) == 3.0 * tensor);
    CHECK(work.layers[2].saved == Bytes());
  }

  TEST_CASE("a fused residual reads one operand more and launches nothing") {
    const ModelWork work =
        lowered(image(3, 8, 8),
                {{one_by_one(16)}, {ResidualLayer{.body = {{one_by_one(16)}}, .shortcut = {}}}, {FlattenLayer{}}},
                {.fused_elementwise = true});
    const StreamKernel read{.moved = Bytes(4.0 * 16 * 8 * 8), .kernels = 0};
    CHECK(work.layers[2].forward == std::vector<Kernel>{read});
    CHECK(work.layers[2].backward == std::vector<Kernel>{read});
    CHECK(work.layers[2].forward_operators == 0);
  }

  TEST_CASE("a projection shortcut and the body keep their common input once") {
    const ModelWork work =
        lowered(image(3, 8, 8), {{one_by_one(16)},
                                 {ResidualLayer{.body = {{one_by_one(32)}}, .shortcut = {{one_by_one(32)}}}},
                                 {FlattenLayer{}}});
    CHECK(work.layers[1].saved == Bytes(4.0 * 16 * 8 * 8));
    CHECK(work.layers[2].saved == Bytes());
    CHECK(work.layers[2].name == "residual1.shortcut.conv1");
  }

  TEST_CASE("branches of vectors stand side by side") {
    const BranchesLayer vectors{.branches = {{{LinearLayer{.out = 3}}}, {{LinearLayer{.out = 5}}}}};
    CHECK(lowered(features(4), {{vectors}}).layers[2].out == features(8));
    CHECK(lowered(sequence(6, 4), {{vectors}}).layers[2].out == sequence(6, 8));
    const BranchesLayer unlike{.branches = {{{LinearLayer{.out = 3}}}, {{FirstTokenLayer{}}}}};
    CHECK(problems_of(model(sequence(6, 4), {at(10, unlike), at(11, SoftmaxLossLayer{})})) ==
          std::vector<std::string>{"model.yaml:10:5: error: branches: branch 1 makes a sequence of 6x3 but branch 2 4 "
                                   "features; they must be all features, or sequences of one length"});
  }

  TEST_CASE("a gate multiplies an image by one number a channel") {
    // Squeeze and excitation as in EfficientNet: 16 channels, 4 in the small net.
    const GateLayer gate{.body = {{GlobalAveragePoolLayer{}},
                                  {LinearLayer{.out = 4}},
                                  {ActivationLayer{ActivationKind::silu}},
                                  {LinearLayer{.out = 16}},
                                  {ActivationLayer{ActivationKind::sigmoid}}}};
    const ModelWork work = lowered(image(3, 8, 8), {{one_by_one(16)}, {gate}, {FlattenLayer{}}});
    const LayerWork& product = work.layers[6];
    CHECK(product.name == "gate1.multiply");
    CHECK(product.out == image(16, 8, 8));
    const Bytes tensor(4.0 * 16 * 8 * 8);
    CHECK(moved(product.forward) == 2.0 * tensor + Bytes(4.0 * 16));
    CHECK(moved(product.backward) == 7.0 * tensor + Bytes(2.0 * 4 * 16));  // three of them sum the two paths' errors
    CHECK(product.saved == tensor);                                        // sigmoid keeps the factors
  }

  TEST_CASE("each head ends in a loss and the errors of all meet") {
    const HeadsLayer heads{
        .heads = {{{LinearLayer{.out = 3}}, {SoftmaxLossLayer{}}}, {{FirstTokenLayer{}}, {SoftmaxLossLayer{}}}}};
    std::vector<Problem> problems;
    const ModelWork work = lower(model(sequence(6, 4), {{LinearLayer{.out = 8}}, {heads}}), {}, problems);
    CHECK(problems.empty());
    REQUIRE(work.layers.size() == 6);
    CHECK(work.layers[1].name == "heads1.0.linear1");
    CHECK(work.layers[5].name == "heads1.sum");
    CHECK(moved(work.layers[5].backward) == Bytes(3.0 * 4 * 6 * 8));
  }

  TEST_CASE("the first inception module of GoogLeNet joins to 256 channels") {
    // Szegedy et al. 2014, table 1, inception (3a): 159K parameters counted there without biases.
    const BranchesLayer inception{
        .branches = {
            {{one_by_one(64)}},
            {{one_by_one(96)}, {ConvolutionLayer{.out = 128, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}}},
            {{one_by_one(16)}, {ConvolutionLayer{.out = 32, .kernel = {5, 5}, .padding = {2, 2}, .bias = false}}},
            {{PoolLayer{.kernel = {3, 3}, .stride = Extent{1, 1}, .padding = {1, 1}}}, {one_by_one(32)}}}};
    const ModelWork work = lowered(image(192, 28, 28), {{inception, "3a"}, {FlattenLayer{}}});
    CHECK(work.layers[7].name == "3a.concatenate");
    CHECK(work.layers[7].out == image(256, 28, 28));
    CHECK(work.layers[2].name == "3a.1.conv2");
    CHECK(parameter_count(work) == 192 * (64 + 96 + 16 + 32) + 96 * 128 * 9 + 16 * 32 * 25);
  }

  TEST_CASE("names are paths and unique") {
    const ModelWork work = lowered(
        features(8),
        {{RepeatLayer{.times = 2,
                      .layers = {{GroupLayer{.layers = {{LinearLayer{.out = 8}, "fc"}, {LinearLayer{.out = 8}, "fc"}}},
                                  "block"}}},
          "stage"},
         {GroupLayer{.layers = {{ActivationLayer{}}}}, "block"},
         {GroupLayer{.layers = {{ActivationLayer{}}}}, "block"}});
    CHECK(work.layers[0].name == "stage.0.block.fc");
    CHECK(work.layers[1].name == "stage.0.block.fc_2");
    CHECK(work.layers[2].name == "stage.1.block.fc");
    CHECK(work.layers[4].name == "block.relu1");
    CHECK(work.layers[5].name == "block_2.relu1");
    std::set<std::string> names;
    for (const LayerWork& layer : work.layers) names.insert(layer.name);
    CHECK(names.size() == work.layers.size());
  }

  TEST_CASE("a repeat is its layers written out") {
    const LinearLayer layer{.out = 8};
    const ModelWork repeated = lowered(features(8), {{RepeatLayer{.times = 3, .layers = {{layer}}}}});
    const ModelWork written = lowered(features(8), {{layer}, {layer}, {layer}});
    CHECK(parameter_count(repeated) == parameter_count(written));
    CHECK(saved_activations(repeated) == saved_activations(written));
    CHECK(repeated.layers.size() == written.layers.size());
  }
}
