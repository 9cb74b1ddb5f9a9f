#include "workload/transformer_spec.hpp"

#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

ModelWork work_of(const TransformerSpec& spec, std::int64_t length) {
  std::vector<Problem> problems;
  ModelWork work = lower(model(tokens(length), transformer_layers(spec, {"model.yaml", 5, 3})), {}, problems);
  for (const Problem& problem : problems) FAIL_CHECK(to_text(problem));
  return work;
}

TransformerSpec megatron(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return {.layers = layers,
          .hidden = hidden,
          .vocabulary = 51200,
          .positions = 2048,
          .tied = true,
          .block = {.heads = heads, .ffn = 4 * hidden, .causal = true}};
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("a chain of blocks has the parameters and FLOP of the Megatron paper") {
    // Narayanan et al. 2021 (arXiv:2104.04473): P = 12 l h^2 (1 + 13 / 12h + (V + s) / 12lh), equation 2, which
    // leaves out the last norm; forward FLOP = 24 s l h^2 (1 + s / 6h) + 2 s h V, appendix.
    const double l = 24;
    const double h = 2304;
    const double s = 2048;
    const double v = 51200;
    const ModelWork work = work_of(megatron(24, 2304, 24), 2048);
    CHECK(parameter_count(work) == 12 * l * h * h + 13 * l * h + (v + s) * h + 2 * h);
    CHECK(forward_flop_per_sample(work) == Flop(24 * s * l * h * h + 4 * s * s * l * h + 2 * s * h * v));
  }

  TEST_CASE("the first blocks of a mixture may be dense") {
    TransformerSpec spec = megatron(4, 64, 4);
    spec.block.experts = ExpertMixture{.count = 8, .active = 2};
    const double experts = parameter_count(work_of(spec, 16));
    spec.dense_layers = 1;
    const double one_dense = parameter_count(work_of(spec, 16));
    CHECK(experts - one_dense == 7 * (2.0 * 64 * 256 + 256 + 64) + 64 * 8);
    spec.dense_layers = 9;  // more than there are
    CHECK(work_of(spec, 16).layers.size() == work_of(megatron(4, 64, 4), 16).layers.size());
  }

  TEST_CASE("without dropout and learned positions there are no layers for them") {
    TransformerSpec spec = megatron(2, 64, 4);
    spec.positions.reset();
    spec.block.dropout = false;
    spec.block.norm = BlockNorm::rms_norm;
    const ModelWork work = work_of(spec, 16);
    REQUIRE(work.layers.size() == 8);
    CHECK(work.layers[0].kind == "embedding");
    CHECK(work.layers[1].name == "repeat1.0.transformer_block1.attention");
    CHECK(work.layers[5].kind == "rms_norm");
    CHECK(work.layers[6].kind == "linear");
    CHECK(work.layers[7].kind == "softmax_loss");
  }
}
