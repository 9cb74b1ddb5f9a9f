#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

const EmbeddingTablesLayer kTables{.vocabularies = {100, 20, 3}, .width = 8};

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("each table looks up one row a sample") {
    const ModelWork work = lowered(tokens(3), {{kTables}, {FlattenLayer{}}}, {.batch = 4});
    CHECK(work.layers[0].out == sequence(3, 8));
    CHECK(parameter_count(work) == (100 + 20 + 3) * 8);
    CHECK(moved(work.layers[0].forward) == Bytes(2.0 * 4 * 4 * 3 * 8));
    CHECK(work.layers[0].forward_operators == 3);
  }

  TEST_CASE("sparse gradients of tables hold the rows a batch can touch") {
    const ModelWork work = lowered(tokens(3), {{kTables}, {FlattenLayer{}}}, {.batch = 4, .sparse_embeddings = true});
    CHECK(work.layers[0].parameters[0].gradient_count == 4 * 8);
    CHECK(work.layers[0].parameters[2].gradient_count == 3 * 8);  // the whole table
  }

  TEST_CASE("a product multiplies the vectors of a sequence") {
    const ModelWork work = lowered(tokens(3), {{kTables}, {ProductLayer{}}});
    CHECK(work.layers[1].out == features(8));
    CHECK(moved(work.layers[1].forward) == Bytes(4.0 * (3 * 8 + 8)));
    CHECK(work.layers[1].saved == Bytes(4.0 * 3 * 8));
  }

  TEST_CASE("an interaction has the pairs of DLRM beside the dense vector") {
    // Naumov et al. 2019: 26 tables and one dense vector make 27 * 26 / 2 pairs.
    const EmbeddingTablesLayer tables{.vocabularies = std::vector<std::int64_t>(26, 50), .width = 128};
    const InteractionLayer interaction{.dense = {{OtherInputLayer{features(13)}}, {LinearLayer{.out = 128}}}};
    const ModelWork work = lowered(tokens(26), {{tables}, {interaction}}, {.batch = 2});
    const LayerWork& dots = work.layers[2];
    CHECK(dots.name == "interaction1.dot");
    CHECK(dots.out == features(128 + 351));
    CHECK(only<GemmKernel>(dots.forward)[0] ==
          GemmKernel{.m = 27, .n = 27, .k = 128, .batch = 2, .layout = kTransposedA});
    CHECK(only<GemmKernel>(dots.backward).size() == 2);
  }
}
