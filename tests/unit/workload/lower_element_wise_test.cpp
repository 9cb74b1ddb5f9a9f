#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

TEST_SUITE("workload") {
  TEST_CASE("a norm by the root mean square has no bias and keeps one number a row") {
    const ModelWork centred = lowered(sequence(5, 16), {{LinearLayer{.out = 16}}, {NormLayer{NormKind::layer_norm}}});
    const ModelWork plain = lowered(sequence(5, 16), {{LinearLayer{.out = 16}}, {NormLayer{NormKind::rms_norm}}});
    CHECK(parameter_count(centred.layers[1]) == 32);
    CHECK(parameter_count(plain.layers[1]) == 16);
    CHECK(centred.layers[1].saved - plain.layers[1].saved == Bytes(4.0 * 5));
  }

  TEST_CASE("batch_norm of a sequence has a weight for each number of its vectors") {
    CHECK(parameter_count(lowered(sequence(5, 16), {{NormLayer{NormKind::batch_norm}}})) == 32);
  }

  TEST_CASE("a normalised convolution keeps two tensors for the backward pass") {
    // Input of batch_norm and the relu's output, which the next convolution shares.
    const auto conv = ConvolutionLayer{.out = 16, .kernel = {3, 3}, .padding = {1, 1}, .bias = false};
    const ModelWork work = lowered(
        image(16, 8, 8),
        {{conv}, {NormLayer{}}, {ActivationLayer{}}, {conv}, {NormLayer{}}, {ActivationLayer{}}, {FlattenLayer{}}},
        {.batch = 32});
    const Bytes tensor(32.0 * 16 * 8 * 8 * 4);
    CHECK(work.layers[0].saved == Bytes());  // the model's input is counted by ModelWork::input
    CHECK(work.layers[1].saved == tensor + Bytes(2.0 * 16 * 4));
    CHECK(work.layers[2].saved == tensor);
    CHECK(work.layers[2].in_place);
    CHECK(work.layers[3].saved == Bytes());
    CHECK(work.layers[4].saved == tensor + Bytes(2.0 * 16 * 4));
  }

  TEST_CASE("normalisation and activation move the bytes of the table") {
    const auto conv = ConvolutionLayer{.out = 16, .kernel = {3, 3}, .padding = {1, 1}, .bias = false};
    const Bytes tensor(4.0 * 16 * 8 * 8);
    const auto layers = [&](LayerKind layer) { return std::vector<LayerSpec>{{conv}, {layer}, {FlattenLayer{}}}; };
    struct Row {
      const char* name;
      LayerKind layer;
      double forward;
      double backward;
      double fused_forward;
      double fused_backward;
    };
    const Row rows[] = {
        {"batch_norm", NormLayer{NormKind::batch_norm}, 3, 5, 3, 5},
        {"local_response_norm", NormLayer{NormKind::local_response_norm}, 2, 4, 2, 4},
        {"relu", ActivationLayer{ActivationKind::relu}, 2, 3, 0, 0},
        {"tanh", ActivationLayer{ActivationKind::tanh}, 2, 3, 0, 0},
        {"dropout", DropoutLayer{}, 2.25, 2.25, 0, 0},  // the mask has one byte a number
        {"max_pool", PoolLayer{.kernel = {2, 2}}, 1.5, 1.5, 1.5, 1.5},
        {"avg_pool", PoolLayer{.kind = PoolKind::average, .kernel = {2, 2}}, 1.25, 1.25, 1.25, 1.25},
    };
    for (const Row& row : rows) {
      CAPTURE(row.name);
      const ModelWork plain = lowered(image(16, 8, 8), layers(row.layer));
      CHECK(moved(plain.layers[1].forward) == row.forward * tensor);
      CHECK(moved(plain.layers[1].backward) == row.backward * tensor);
      const ModelWork fused = lowered(image(16, 8, 8), layers(row.layer), {.fused_elementwise = true});
      CHECK(moved(fused.layers[1].forward) == row.fused_forward * tensor);
      CHECK(moved(fused.layers[1].backward) == row.fused_backward * tensor);
      CHECK(fused.layers[1].forward_operators == (row.fused_forward > 0 ? 1 : 0));
    }
  }

  TEST_CASE("a batch norm of separate operators moves each of their tensors") {
    // Forward: mean 1, squared difference 2, its mean 1, scale 2, shift 2.
    const WrittenOut form{.forward = 8, .backward = 24, .forward_kernels = 10, .backward_kernels = 21};
    const auto conv = ConvolutionLayer{.out = 16, .kernel = {3, 3}, .padding = {1, 1}, .bias = false};
    const std::vector<LayerSpec> layers = {{conv}, {NormLayer{NormKind::batch_norm}}, {FlattenLayer{}}};
    const ModelWork work = lowered(image(16, 8, 8), layers, {.written_out = {.batch_norm = form}});
    const Bytes tensor(4.0 * 16 * 8 * 8);
    CHECK(moved(work.layers[1].forward) == 8.0 * tensor);
    CHECK(moved(work.layers[1].backward) == 24.0 * tensor);
  }

  TEST_CASE("layers before the first weights run no backward pass") {
    const ModelWork work =
        lowered(image(3, 8, 8),
                {{PoolLayer{.kernel = {2, 2}}}, {ActivationLayer{}}, {ConvolutionLayer{.out = 4}}, {FlattenLayer{}}});
    CHECK(work.layers[0].backward.empty());
    CHECK(work.layers[0].backward_operators == 0);
    CHECK(work.layers[1].backward.empty());
    CHECK(work.layers[1].saved == Bytes());
    CHECK(work.layers[2].saved == Bytes(3.0 * 4 * 4 * 4));
  }

  TEST_CASE("the loss keeps probabilities of four bytes also in half precision") {
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      CAPTURE(name(precision));
      const ModelWork work = lowered(features(10), {{LinearLayer{.out = 1000}}}, {.batch = 8, .precision = precision});
      CHECK(work.layers[1].saved == Bytes(8.0 * 1000 * 4));
    }
  }
}
