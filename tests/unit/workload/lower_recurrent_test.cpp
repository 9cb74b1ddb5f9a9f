#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

TEST_SUITE("workload") {
  TEST_CASE("recurrent parameters follow gates widths and biases") {
    struct Row {
      RecurrentCell cell;
      double gates;
      std::int64_t biases;
    };
    const Row rows[] = {{RecurrentCell::lstm, 4, 2},
                        {RecurrentCell::lstm, 4, 1},
                        {RecurrentCell::gru, 3, 2},
                        {RecurrentCell::rnn, 1, 0}};
    for (const Row& row : rows) {
      CAPTURE(row.gates);
      CAPTURE(row.biases);
      const ModelWork work =
          lowered(sequence(35, 200), {{RecurrentLayer{.cell = row.cell, .hidden = 650, .biases = row.biases}}});
      CHECK(parameter_count(work) == row.gates * (200 + 650 + static_cast<double>(row.biases)) * 650);
      CHECK(forward_flop_per_sample(work) == Flop(2.0 * row.gates * (200 + 650) * 650 * 35));
    }
  }

  TEST_CASE("the medium language model of Zaremba has its parameters") {
    // Zaremba et al. 2014, medium: 650 units, 2 layers, 10,000 words. Embedding, LSTM, softmax.
    const ModelWork work = lowered(tokens(35), {{EmbeddingLayer{.vocabulary = 10000, .width = 650}},
                                                {RecurrentLayer{.hidden = 650, .layers = 2, .biases = 1}},
                                                {LinearLayer{.out = 10000}}});
    CHECK(parameter_count(work) == 10000 * 650 + 2 * 4 * (650 + 650 + 1) * 650 + 650 * 10000 + 10000);
    REQUIRE(work.layers.size() == 5);
    CHECK(work.layers[1].name == "lstm1.0");
    CHECK(work.layers[2].name == "lstm1.1");
  }

  TEST_CASE("a bidirectional layer has two directions and concatenates them") {
    const ModelWork work =
        lowered(sequence(7, 32), {{RecurrentLayer{.hidden = 16, .layers = 2, .bidirectional = true}}}, {.batch = 5});
    CHECK(work.layers[0].out == sequence(7, 32));
    CHECK(parameter_count(work) == 2 * 2 * 4 * (32 + 16 + 2) * 16);
    const RecurrentKernel kernel{.batch = 5, .input = 32, .hidden = 16, .steps = 7};
    CHECK(work.layers[0].forward == std::vector<Kernel>{kernel, kernel});
    REQUIRE(work.layers[1].backward.size() == 4);
    const auto backward = only<RecurrentKernel>(work.layers[1].backward);
    CHECK(backward[0].pass == Pass::backward_data);
    CHECK(backward[3].pass == Pass::backward_weights);
    CHECK(work.layers[0].forward_operators == 1);
  }

  TEST_CASE("an lstm keeps gates and cells and its output") {
    const ModelWork work =
        lowered(sequence(7, 32), {{RecurrentLayer{.hidden = 16}}, {LinearLayer{.out = 3}}}, {.batch = 5});
    CHECK(work.layers[0].saved == Bytes(4.0 * 5 * 7 * 16 * (4 + 1 + 1)));
    CHECK(work.layers[1].saved == Bytes());  // its input is the lstm's output
  }

  TEST_CASE("a wish for persistent kernels reaches every pass") {
    const ModelWork work = lowered(sequence(7, 32), {{RecurrentLayer{.hidden = 16, .persistent = true}}});
    for (const RecurrentKernel& kernel : only<RecurrentKernel>(work.layers[0].forward)) CHECK(kernel.persistent);
    for (const RecurrentKernel& kernel : only<RecurrentKernel>(work.layers[0].backward)) CHECK(kernel.persistent);
  }

  TEST_CASE("a first recurrent layer sends errors through time but not to its input") {
    const ModelWork work = lowered(sequence(7, 32), {{RecurrentLayer{.hidden = 16}}});
    const auto backward = only<RecurrentKernel>(work.layers[0].backward);
    CHECK(backward[0].pass == Pass::backward_data);
    CHECK(backward[0].input == 0);
    CHECK(backward[1].input == 32);
  }

  TEST_CASE("a split recurrent layer halves parameters and arithmetic and exchanges every step") {
    const std::vector<LayerSpec> layers = {{RecurrentLayer{.hidden = 64, .layers = 2}}};
    const ModelWork whole = lowered(sequence(20, 48), layers, {.batch = 8});
    const ModelWork half = lowered(sequence(20, 48), layers, {.batch = 8, .model_split = 2});
    CHECK(parameter_count(whole) == 2 * parameter_count(half));
    CHECK(forward_flop_per_sample(whole) == 2.0 * forward_flop_per_sample(half));
    const Bytes outputs(4.0 * 8 * 20 * 64);
    using Exchanges = std::vector<LayerExchange>;
    const LayerExchange gather{.what = LayerCollective::all_gather, .size = outputs, .rounds = 20};
    LayerExchange scatter{.what = LayerCollective::reduce_scatter, .size = outputs, .rounds = 20};
    CHECK(half.layers[0].forward_exchanges == Exchanges{gather});
    CHECK(half.layers[0].backward_exchanges == Exchanges{scatter});
    scatter.size = 2.0 * outputs;  // errors of the input, too
    CHECK(half.layers[1].backward_exchanges == Exchanges{scatter});
  }
}
