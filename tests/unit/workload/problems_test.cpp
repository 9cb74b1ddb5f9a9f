// What is wrong with a model is said with its place, and all of it at once.

#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

using Texts = std::vector<std::string>;

/// The problems of some layers, the first on line 10, closed by a loss.
Texts problems(const Shape& input, std::vector<LayerKind> kinds, const LowerOptions& options = {}) {
  std::vector<LayerSpec> layers;
  int line = 10;
  for (LayerKind& kind : kinds) layers.push_back(at(line++, std::move(kind)));
  layers.push_back(at(line, SoftmaxLossLayer{}));
  return problems_of(model(input, std::move(layers)), options);
}

Texts one(const std::string& text) { return {"model.yaml:" + text}; }

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("layers that do not fit their input are named with the shape they got") {
    CHECK(problems(image(3, 4, 4), {LinearLayer{.out = 2}}) ==
          one("10:5: error: linear: its input is an image of 3x4x4; put flatten or global_avg_pool before it"));
    CHECK(problems(features(8), {ConvolutionLayer{.out = 2}}) ==
          one("10:5: error: conv: works on an image, but its input is 8 features"));
    CHECK(problems(tokens(8), {LinearLayer{.out = 2}}) ==
          one("10:5: error: linear: its input is 8 tokens; put an embedding before it"));
    CHECK(problems(features(8), {EmbeddingLayer{.vocabulary = 2, .width = 2}}) ==
          one("10:5: error: embedding: works on tokens, but its input is 8 features"));
    CHECK(problems(tokens(8), {RecurrentLayer{.hidden = 2}}) ==
          one("10:5: error: lstm: works on a sequence, but its input is 8 tokens; put an embedding before it"));
    CHECK(problems(image(3, 4, 4), {}) ==
          one("10:5: error: softmax_loss: its input is an image of 3x4x4; put flatten or global_avg_pool before it"));
    CHECK(problems(tokens(3), {NormLayer{NormKind::batch_norm}}) ==
          one("10:5: error: batch_norm: its input is 3 tokens; put an embedding before it"));
    CHECK(problems(sequence(3, 4), {PositionEmbeddingLayer{.positions = 2}}) ==
          one("10:5: error: position_embedding: 2 positions are fewer than the sequence length 3"));
  }

  TEST_CASE("windows groups and heads must fit") {
    CHECK(problems(image(3, 4, 4), {ConvolutionLayer{.out = 2, .kernel = {7, 7}, .padding = {1, 1}}}) ==
          one("10:5: error: conv: kernel 7x7 is larger than its padded input of 6x6"));
    CHECK(problems(image(3, 4, 4), {PoolLayer{.kernel = {5, 5}}}) ==
          one("10:5: error: max_pool: kernel 5x5 is larger than its padded input of 4x4"));
    CHECK(problems(image(3, 4, 4), {ConvolutionLayer{.out = 4, .groups = 2}, FlattenLayer{}}) ==
          one("10:5: error: conv: 2 groups do not divide 3 input channels"));
    CHECK(problems(image(4, 4, 4), {ConvolutionLayer{.out = 3, .groups = 2}, FlattenLayer{}}) ==
          one("10:5: error: conv: 2 groups do not divide 3 output channels"));
    CHECK(problems(sequence(3, 10), {AttentionLayer{.heads = 3}}) ==
          one("10:5: error: attention: 3 heads do not divide a width of 10"));
    CHECK(problems(sequence(3, 12), {TransformerBlockLayer{.heads = 4, .kv_heads = 3, .ffn = 4}}) ==
          one("10:5: error: transformer_block: 3 kv_heads do not divide 4 heads"));
  }

  TEST_CASE("experts and latent attention must make sense") {
    CHECK(problems(sequence(3, 12),
                   {TransformerBlockLayer{.heads = 4, .ffn = 4, .experts = ExpertMixture{.count = 2, .active = 3}}}) ==
          one("10:5: error: transformer_block: a token visits 3 experts but there are 2"));
    CHECK(problems(sequence(3, 12),
                   {TransformerBlockLayer{
                       .heads = 4, .ffn = 4, .experts = ExpertMixture{.count = 2, .active = 1, .capacity = 0.0}}}) ==
          one("10:5: error: transformer_block: 'experts.capacity' is 0; it must be above 0 and at most 1000"));
    CHECK(problems(sequence(3, 12),
                   {TransformerBlockLayer{.heads = 4,
                                          .kv_heads = 2,
                                          .ffn = 4,
                                          .latent = LatentAttention{.query = 4, .key_value = 4, .rotary = 3}}}) ==
          Texts{"model.yaml:10:5: error: transformer_block: 'latent.rotary' must be even: positions turn pairs of "
                "numbers",
                "model.yaml:10:5: error: transformer_block: latent attention has keys and values for every head; "
                "leave 'kv_heads' out"});
    CHECK(problems(sequence(3, 10), {TransformerBlockLayer{.heads = 3, .head_size = 4, .ffn = 4}}).empty());
  }

  TEST_CASE("layers that reshape say what does not fit") {
    const Shape picture = image(3, 4, 6);
    CHECK(problems(picture, {SpaceToDepthLayer{{1, 4}}}) ==
          one("10:5: error: space_to_depth: blocks of 1x4 do not divide an image of 3x4x6"));
    CHECK(problems(picture, {FirstChannelsLayer{4}}) ==
          one("10:5: error: first_channels: keeps 4 channels, but its input has 3"));
    CHECK(problems(picture, {GatedTanhLayer{}}) ==
          one("10:5: error: gated_tanh: needs two halves, but its input has 3 channels"));
    CHECK(problems(picture, {TransposedConvolutionLayer{.out = 2, .padding = {3, 3}}}) ==
          one("10:5: error: transposed_conv: 'padding' leaves nothing of its output: -2x0"));
    CHECK(problems(image(1, 1 << 20, 1 << 20), {ToSequenceLayer{}}) ==
          one("10:5: error: to_sequence: makes 1099511627776 positions, more than 2^30; check the sizes"));
    CHECK(problems(image(1, 1 << 20, 1), {TransposedConvolutionLayer{.out = 1, .stride = {1 << 20, 1}}}) ==
          one("10:5: error: transposed_conv: makes an image of 1x1099510579201x1, a side of more than 2^30; check the "
              "sizes"));
    CHECK(problems(sequence(3, 4), {AttentionLayer{.heads = 1 << 30, .head_size = 1 << 30}}) ==
          one("10:5: error: attention: makes a sequence of 3x1152921504606846976 per sample, more than 2^40 numbers; "
              "check the sizes"));
    CHECK(problems(features(4), {ToSequenceLayer{}}) ==
          one("10:5: error: to_sequence: works on an image, but its input is 4 features"));
    CHECK(problems(sequence(3, 4), {GatherTokensLayer{.share = 1.5}}) ==
          one("10:5: error: gather_tokens: 'share' is 1.5; it must be above 0 and at most 1"));
    CHECK(problems(sequence(3, 4), {RecallLayer{"mel"}}) ==
          one("10:5: error: recall: nothing before it is remembered as 'mel'"));
    CHECK(problems(sequence(3, 4), {ContextLayer{}}) ==
          one("10:5: error: context: looks at an encoder; it must stand in the decoder of encoder_decoder"));
    CHECK(problems(tokens(3), {EmbeddingTablesLayer{.vocabularies = {5, 6}, .width = 4}}) ==
          one("10:5: error: embedding_tables: needs one token for each of its 2 tables, but its input is 3 tokens"));
    CHECK(problems(features(3), {OtherInputLayer{features(0)}}) ==
          one("10:5: error: other_input: input of 0 features: sizes must be between 1 and 2^30"));
  }

  TEST_CASE("a gate an interaction and heads say what they hold") {
    const LayerSpec narrow{LinearLayer{.out = 2}};
    CHECK(problems(features(8), {GateLayer{.body = {narrow}}}) ==
          one("10:5: error: gate: its input is 8 features but its body makes 2 features; it must make the same"));
    CHECK(problems(image(4, 2, 2), {GateLayer{.body = {{GlobalAveragePoolLayer{}}, narrow}}}) ==
          one("10:5: error: gate: its input is an image of 4x2x2 but its body makes 2 features; it must make the same, "
              "or 4 features, one a channel"));
    CHECK(problems(sequence(3, 8), {InteractionLayer{.dense = {{FlattenLayer{}}, narrow}}}) ==
          one("10:5: error: interaction: its vectors have 8 numbers but 'dense' makes 2 features"));
    CHECK(problems_of(model(features(8), {at(10, HeadsLayer{.heads = {{narrow, {SoftmaxLossLayer{}}}, {narrow}}})})) ==
          one("10:5: error: heads: head 2 does not end with a loss; add softmax_loss as its last layer"));
    CHECK(problems(features(8), {ResidualLayer{.body = {at(11, HeadsLayer{.heads = {{at(12, SoftmaxLossLayer{})}}})},
                                               .shortcut = {}}}) ==
          Texts{"model.yaml:11:5: error: heads: inside residual; it must be the last layer of the model",
                "model.yaml:12:5: error: softmax_loss: inside residual; it must be the last layer of the model"});
  }

  TEST_CASE("a tied output takes rows of a table that is there") {
    const EmbeddingLayer table{.vocabulary = 50, .width = 4};
    CHECK(problems(tokens(3), {table, LinearLayer{.out = 20, .bias = false, .tied = true, .rows_of = 50}}).empty());
    CHECK(problems(tokens(3), {table, LinearLayer{.out = 20, .tied = true, .rows_of = 60}}) ==
          one("11:5: error: linear: tied to an embedding, but none before it has vocabulary 60 and width 4"));
    CHECK(problems(tokens(3), {table, LinearLayer{.out = 70, .rows_of = 60}}) ==
          Texts{"model.yaml:11:5: error: linear: 'rows_of' is the vocabulary of a tied embedding; write 'tied: true' "
                "too",
                "model.yaml:11:5: error: linear: 'out' is 70, more than the 60 of 'rows_of'"});
  }

  TEST_CASE("sizes that are not positive or absurd are refused") {
    CHECK(problems(features(8), {LinearLayer{.out = 0}}) ==
          one("10:5: error: linear: 'out' is 0; it must be at least 1"));
    CHECK(problems(image(3, 4, 4), {ConvolutionLayer{.out = -2, .padding = {-1, -1}}}) ==
          Texts{"model.yaml:10:5: error: conv: 'out' is -2; it must be at least 1",
                "model.yaml:10:5: error: conv: 'padding' is -1; it must be at least 0"});
    CHECK(problems(features(8), {LinearLayer{.out = std::int64_t{1} << 62}}) ==
          one("10:5: error: linear: 'out' is 4611686018427387904; it must be at most 2^30"));
    CHECK(problems(features(1 << 30), {LinearLayer{.out = 1 << 20}}) ==
          one("10:5: error: linear: 'weight' would have more than 2^40 numbers; check the sizes"));
    CHECK(problems(sequence(1 << 20, 4), {LinearLayer{.out = 1 << 30}}) ==
          one("10:5: error: linear: makes a sequence of 1048576x1073741824 per sample, more than 2^40 numbers; check "
              "the sizes"));
    CHECK(problems(image(3, 0, 4), {FlattenLayer{}}) ==
          one("1:8: error: input of an image of 3x0x4: sizes must be between 1 and 2^30"));
    CHECK(problems(sequence(3, 4), {RecurrentLayer{.hidden = 4, .biases = 3}}) ==
          one("10:5: error: lstm: 'biases' is 3; it is 0, 1 or 2"));
    CHECK(problems(image(3, 4, 4), {PoolLayer{.kernel = {2, 2}, .padding = {2, 2}}, FlattenLayer{}}) ==
          one("10:5: error: max_pool: 'padding' must be smaller than 'kernel', or windows hold no input"));
  }

  TEST_CASE("paths that do not join are named with both shapes") {
    CHECK(problems(image(3, 4, 4),
                   {ResidualLayer{.body = {at(20, ConvolutionLayer{.out = 8})}, .shortcut = {}}, FlattenLayer{}}) ==
          one("10:5: error: residual: its body makes an image of 8x4x4 but its shortcut an image of 3x4x4"));
    CHECK(problems(image(3, 4, 4),
                   {BranchesLayer{.branches = {{}, {at(20, PoolLayer{.kernel = {2, 2}})}}}, FlattenLayer{}}) ==
          one("10:5: error: branches: branch 1 makes an image of 3x4x4 but branch 2 an image of 3x2x2; their images "
              "must be of one size"));
  }

  TEST_CASE("the loss stands once and at the end") {
    CHECK(problems_of(model(features(8), {at(10, LinearLayer{.out = 2})})) ==
          one("2:1: error: the model does not end with a loss; add softmax_loss as its last layer"));
    CHECK(problems_of(model(features(8), {})) ==
          one("2:1: error: the model does not end with a loss; add softmax_loss as its last layer"));
    CHECK(problems(features(8), {SoftmaxLossLayer{}, LinearLayer{.out = 2}}) ==
          one("11:5: error: linear: stands after softmax_loss, which ends the model"));
    CHECK(problems(features(8), {RepeatLayer{.times = 2, .layers = {at(20, SoftmaxLossLayer{})}}}) ==
          one("20:5: error: softmax_loss: stands after softmax_loss, which ends the model"));
    CHECK(problems(features(8), {ResidualLayer{.body = {at(20, SoftmaxLossLayer{})}, .shortcut = {}}}) ==
          one("20:5: error: softmax_loss: inside residual; it must be the last layer of the model"));
  }

  TEST_CASE("attention over an encoder needs one") {
    const std::string rest = ": looks at an encoder; it must stand in the decoder of encoder_decoder";
    CHECK(problems(sequence(3, 4), {AttentionLayer{.heads = 2, .cross = true}}) ==
          one("10:5: error: attention" + rest));
    CHECK(problems(sequence(3, 4), {TransformerBlockLayer{.heads = 2, .ffn = 4, .cross = true}}) ==
          one("10:5: error: transformer_block" + rest));
    CHECK(problems(sequence(3, 4), {AdditiveAttentionLayer{.width = 4}}) ==
          one("10:5: error: additive_attention" + rest));
    CHECK(problems(features(4),
                   {EncoderDecoderLayer{.encoder = {at(20, FlattenLayer{})}, .decoder = {at(21, FlattenLayer{})}}}) ==
          one("10:5: error: encoder_decoder: works on tokens, but its input is 4 features"));
    CHECK(problems(tokens(4),
                   {EncoderDecoderLayer{
                       .encoder = {at(20, EmbeddingLayer{.vocabulary = 9, .width = 4}), at(21, FirstTokenLayer{})},
                       .decoder = {at(22, EmbeddingLayer{.vocabulary = 9, .width = 4})}}}) ==
          one("10:5: error: encoder_decoder: its encoder makes 4 features; the decoder needs a sequence"));
  }

  TEST_CASE("a tied weight needs an embedding of its size") {
    CHECK(problems(tokens(4), {EmbeddingLayer{.vocabulary = 100, .width = 8}, LinearLayer{.out = 99, .tied = true}}) ==
          one("11:5: error: linear: tied to an embedding, but none before it has vocabulary 99 and width 8"));
    CHECK(problems(tokens(4), {EmbeddingLayer{.vocabulary = 100, .width = 8, .tied = true}}) ==
          one("10:5: error: embedding: tied to an earlier embedding, but none has vocabulary 100 and width 8"));
  }

  TEST_CASE("a split that leaves a remainder names degrees that do not") {
    const auto split = [](LayerKind layer, int degree) {
      return problems_of(model(sequence(5, 6), {at(10, std::move(layer), "top"), at(11, SoftmaxLossLayer{})}),
                         {.model_split = degree});
    };
    CHECK(split(LinearLayer{.out = 1000}, 3) == one("10:5: error: linear 'top': 1000 outputs do not split over 3 GPUs; "
                                                    "the nearest degrees that do are 2 and 4"));
    CHECK(split(RecurrentLayer{.hidden = 7}, 8) ==
          one("10:5: error: lstm 'top': 7 hidden units do not split over 8 GPUs; the nearest degree that does is 7"));
    CHECK(split(LinearLayer{.out = 1000}, 4).empty());
  }

  TEST_CASE("repeats cannot exhaust memory") {
    const std::string rest = "error: linear: the model has more than 100000 layers, repeats written out";
    const std::int64_t huge = std::int64_t{1} << 60;
    CHECK(problems(features(8), {RepeatLayer{.times = huge, .layers = {at(20, LinearLayer{.out = 8})}}}) ==
          one("20:5: " + rest));
    CHECK(problems(features(8),
                   {RepeatLayer{
                       .times = huge,
                       .layers = {at(20, RepeatLayer{.times = huge, .layers = {at(21, LinearLayer{.out = 8})}})}}}) ==
          one("21:5: " + rest));
    CHECK(problems(sequence(2, 4), {RecurrentLayer{.hidden = 4, .layers = 1 << 30}}) ==
          one("10:5: error: lstm: the model has more than 100000 layers, repeats written out"));
    CHECK(problems(features(8), {RepeatLayer{.times = huge, .layers = {}}}) ==
          one("10:5: error: repeat: has no layers to repeat"));
    CHECK(problems(features(8), {RepeatLayer{.times = 0, .layers = {at(20, FlattenLayer{})}}}) ==
          one("10:5: error: repeat: 'times' is 0; it must be at least 1"));
  }

  TEST_CASE("a layer in a repeat is reported once and other layers too") {
    const Texts found =
        problems(image(3, 8, 8), {RepeatLayer{.times = 4,
                                              .layers = {at(20, ConvolutionLayer{.out = 4, .groups = 4}),
                                                         at(21, ConvolutionLayer{.out = 3, .padding = {1, 1}})}},
                                  LinearLayer{.out = 2}, LinearLayer{.out = 0}});
    CHECK(found == Texts{"model.yaml:12:5: error: linear: 'out' is 0; it must be at least 1",
                         "model.yaml:20:5: error: conv: 4 groups do not divide 3 input channels",
                         "model.yaml:11:5: error: linear: its input is an image of 3x16x16; put flatten or "
                         "global_avg_pool before it"});
  }

  TEST_CASE("batch and sequence of the scenario are checked") {
    CHECK(problems(features(8), {LinearLayer{.out = 2}}, {.batch = 0}) ==
          one("1:8: error: a batch of 0 samples per GPU; it must be between 1 and 2^30"));
    CHECK(problems(features(8), {LinearLayer{.out = 2}}, {.sequence = 12}) ==
          one("1:8: error: a sequence length is given but the model takes 8 features; leave the length out"));
    CHECK(problems(sequence(8, 2), {LinearLayer{.out = 2}}, {.sequence = -1}) ==
          one("1:8: error: a sequence length of -1; it must be between 1 and 2^30"));
    CHECK(problems(features(8), {LinearLayer{.out = 2}}, {.model_split = 0}) ==
          one("1:8: error: layers cannot be split over 0 GPUs; 1 means not split"));
  }
}
