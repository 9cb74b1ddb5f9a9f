#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

TEST_SUITE("workload") {
  TEST_CASE("a linear layer is one product forward and two backward") {
    const ModelWork work = lowered(
        features(784), {{LinearLayer{.out = 500}}, {ActivationLayer{}}, {LinearLayer{.out = 10}}}, {.batch = 64});
    CHECK(parameter_count(work) == 784 * 500 + 500 + 500 * 10 + 10);
    CHECK(work.layers[0].forward ==
          std::vector<Kernel>{GemmKernel{.m = 500, .n = 64, .k = 784, .layout = kTransposedA}});
    CHECK(only<GemmKernel>(work.layers[0].backward) ==
          std::vector{GemmKernel{.m = 500, .n = 784, .k = 64, .layout = kTransposedB}});
    CHECK(only<GemmKernel>(work.layers[2].backward) ==
          std::vector{GemmKernel{.m = 500, .n = 64, .k = 10},
                      GemmKernel{.m = 10, .n = 500, .k = 64, .layout = kTransposedB}});
    CHECK(forward_flop_per_sample(work) == Flop(2.0 * (784 * 500 + 500 * 10)));
    CHECK(work.sequence_length == 0);
    CHECK(work.tokens_per_sample == 0);
    CHECK(work.input == Bytes(4.0 * 784));
  }

  TEST_CASE("a linear layer works on every vector of a sequence") {
    const ModelWork work = lowered(sequence(20, 8), {{LinearLayer{.out = 5}}}, {.batch = 3});
    CHECK(work.layers[0].out == sequence(20, 5));
    CHECK(work.layers[0].forward == std::vector<Kernel>{GemmKernel{.m = 5, .n = 60, .k = 8, .layout = kTransposedA}});
    CHECK(work.tokens_per_sample == 20);
  }

  TEST_CASE("a split linear layer holds and computes its part and exchanges whole tensors") {
    const std::vector<LayerSpec> layers = {{LinearLayer{.out = 1024}}, {LinearLayer{.out = 1024}}};
    const ModelWork whole = lowered(features(2048), layers, {.batch = 256});
    const ModelWork half = lowered(features(2048), layers, {.batch = 256, .model_split = 2});
    CHECK(parameter_count(whole) == 2 * parameter_count(half));
    CHECK(forward_flop_per_sample(whole) == 2.0 * forward_flop_per_sample(half));
    CHECK(whole.layers[0].forward_exchanges.empty());
    CHECK(half.layers[0].parameters[0].split);
    CHECK(half.layers[0].output == whole.layers[0].output);
    using Exchanges = std::vector<LayerExchange>;
    const Bytes tensor(4.0 * 256 * 1024);
    CHECK(half.layers[0].forward_exchanges == Exchanges{{.what = LayerCollective::all_gather, .size = tensor}});
    CHECK(half.layers[0].backward_exchanges.empty());
    CHECK(half.layers[1].backward_exchanges == Exchanges{{.what = LayerCollective::reduce_scatter, .size = tensor}});
  }

  TEST_CASE("a tied output weight is multiplied but not counted again") {
    const auto words = [](bool tied) {
      return std::vector<LayerSpec>{{EmbeddingLayer{.vocabulary = 1000, .width = 64}},
                                    {LinearLayer{.out = 1000, .bias = false, .tied = tied}}};
    };
    const ModelWork tied = lowered(tokens(10), words(true));
    const ModelWork untied = lowered(tokens(10), words(false));
    CHECK(parameter_count(tied) == 64000);
    CHECK(parameter_count(untied) == 128000);
    CHECK(forward_flop_per_sample(tied) == forward_flop_per_sample(untied));
  }

  TEST_CASE("an embedding moves the rows it gathers and a dense gradient writes the table") {
    const ModelWork dense = lowered(tokens(10), {{EmbeddingLayer{.vocabulary = 1000, .width = 64}}}, {.batch = 4});
    const Bytes rows(4.0 * 10 * 64 * 4);
    const Bytes table(1000.0 * 64 * 4);
    CHECK(moved(dense.layers[0].forward) == 2.0 * rows);
    CHECK(moved(dense.layers[0].backward) == table + 3.0 * rows);
    CHECK_FALSE(dense.layers[0].parameters[0].sparse_gradient);
    CHECK(dense.layers[0].parameters[0].gradient_count == 64000);
    CHECK(dense.sequence_length == 10);
  }

  TEST_CASE("a sparse gradient has the touched rows unless the table is shared") {
    const LowerOptions sparse{.batch = 4, .sparse_embeddings = true};
    const ModelWork alone = lowered(tokens(10), {{EmbeddingLayer{.vocabulary = 1000, .width = 64}}}, sparse);
    CHECK(alone.layers[0].parameters[0].sparse_gradient);
    CHECK(alone.layers[0].parameters[0].gradient_count == 40 * 64);
    CHECK(moved(alone.layers[0].backward) == Bytes(2.0 * 4 * 10 * 64 * 4));
    const ModelWork shared =
        lowered(tokens(10),
                {{EmbeddingLayer{.vocabulary = 1000, .width = 64}}, {LinearLayer{.out = 1000, .tied = true}}}, sparse);
    CHECK_FALSE(shared.layers[0].parameters[0].sparse_gradient);
  }
}
