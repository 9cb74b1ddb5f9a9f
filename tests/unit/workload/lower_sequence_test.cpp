#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

TEST_SUITE("workload") {
  TEST_CASE("an image becomes a row of pixels or of columns and a sequence an image of one row") {
    const ModelWork pixels = lowered(image(8, 3, 5), {{ToSequenceLayer{SequencePosition::pixel}}});
    CHECK(pixels.layers[0].out == sequence(15, 8));
    const ModelWork columns = lowered(image(8, 3, 5), {{ToSequenceLayer{SequencePosition::column}}});
    CHECK(columns.layers[0].out == sequence(5, 24));
    CHECK(moved(columns.layers[0].forward) == Bytes(2.0 * 4 * 8 * 3 * 5));
    const ModelWork back = lowered(sequence(15, 8), {{ToImageLayer{}}, {FlattenLayer{}}});
    CHECK(back.layers[0].out == image(8, 1, 15));
  }

  TEST_CASE("BERT predicts fifteen percent of its positions rounded up") {
    // Devlin et al. 2018, section 3.1; 20 of 128 as Google's max_predictions_per_seq.
    for (const auto& [length, kept] : {std::pair{128, 20}, std::pair{512, 77}, std::pair{20, 3}}) {
      CAPTURE(length);
      const ModelWork work = lowered(sequence(length, 16), {{GatherTokensLayer{.share = 0.15}}});
      CHECK(work.layers[0].out == sequence(kept, 16));
    }
  }

  TEST_CASE("a class token is one more position with a vector of its own") {
    const ModelWork work = lowered(sequence(196, 768), {{ClassTokenLayer{}}});
    CHECK(work.layers[0].out == sequence(197, 768));
    CHECK(parameter_count(work) == 768);
  }

  TEST_CASE("segments have a vector each and cost what positions cost") {
    const ModelWork segments = lowered(sequence(16, 32), {{SegmentEmbeddingLayer{.segments = 2}}});
    const ModelWork positions = lowered(sequence(16, 32), {{PositionEmbeddingLayer{.positions = 16}}});
    CHECK(parameter_count(segments) == 2 * 32);
    CHECK(segments.layers[0].forward == positions.layers[0].forward);
    CHECK(segments.layers[0].backward == positions.layers[0].backward);
  }

  TEST_CASE("a context widens the decoder's input by the encoder's output") {
    const EncoderDecoderLayer both{
        .encoder = {{EmbeddingLayer{.vocabulary = 10, .width = 6}}},
        .decoder = {{EmbeddingLayer{.vocabulary = 10, .width = 4}}, {ContextLayer{}}, {RecurrentLayer{.hidden = 4}}}};
    const ModelWork work = lowered(tokens(5), {{both}});
    CHECK(work.layers[2].kind == "context");
    CHECK(work.layers[2].out == sequence(5, 10));
  }

  TEST_CASE("another input is counted with the sample and needs no errors") {
    const ModelWork work = lowered(tokens(2), {{OtherInputLayer{features(13)}}, {LinearLayer{.out = 4}}}, {.batch = 8});
    CHECK(work.input == Bytes(4.0 * (2 + 13)));
    CHECK(only<GemmKernel>(work.layers[0].backward).size() == 1);
    CHECK(work.layers[0].saved == Bytes());
  }

  TEST_CASE("what is remembered is read again and its errors are summed") {
    const ModelWork work = lowered(
        features(8), {{LinearLayer{.out = 4}}, {RememberLayer{"a"}}, {LinearLayer{.out = 2}}, {RecallLayer{"a"}}});
    REQUIRE(work.layers.size() == 4);
    CHECK(work.layers[2].kind == "recall");
    CHECK(work.layers[2].out == features(4));
    CHECK(work.layers[2].forward.empty());
    CHECK(moved(work.layers[2].backward) == Bytes(3.0 * 4 * 4));
  }
}
