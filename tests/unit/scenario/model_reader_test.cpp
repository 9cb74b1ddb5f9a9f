#include "scenario/model_reader.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <string>

#include "scenario/yaml_parse.hpp"

using namespace gpuscale;

namespace {

/// The layers of a model with this tail; no problems may come up.
ModelSpec model_of(const std::string& input, const std::string& tail) {
  const std::string text = fmt::format("name: test\nfamily: transformer\nsource: nobody\ninput: {}\n{}", input, tail);
  const Library library({std::filesystem::path(GPUSCALE_SOURCE_DIR)});
  Reading reading(library);
  const YamlDocument document = parse_yaml(text, "test.yaml");
  REQUIRE(document.problems.empty());
  ModelSpec model = read_model(document.root, "workload.model", reading);
  for (const Problem& problem : reading.problems()) FAIL_CHECK(to_text(problem));
  return model;
}

/// Without places, which differ where the same is written another way.
std::vector<LayerSpec> placeless(std::vector<LayerSpec> layers) {
  for (LayerSpec& layer : layers) {
    layer.place = {};
    if (auto* repeat = std::get_if<RepeatLayer>(&layer.layer)) repeat->layers = placeless(std::move(repeat->layers));
  }
  return layers;
}

}  // namespace

TEST_SUITE("scenario") {
  TEST_CASE("a Transformer by its sizes is the chain of layers written out") {
    const ModelSpec sizes = model_of("{tokens: 128}",
                                     "transformer: {layers: 3, hidden: 64, heads: 8, kv_heads: 2, ffn: 96, "
                                     "vocabulary: 500, activation: swiglu, norm: rms_norm, positions: rotary, "
                                     "bias: false, tied: true, dropout: false}\n");
    const ModelSpec layers =
        model_of("{tokens: 128}",
                 "layers:\n"
                 "  - embedding: {vocabulary: 500, width: 64}\n"
                 "  - repeat:\n"
                 "      times: 3\n"
                 "      layers:\n"
                 "        - transformer_block: {heads: 8, kv_heads: 2, ffn: 96, activation: swiglu, norm: rms_norm,\n"
                 "                              bias: false, dropout: false, causal: true, rotary: true}\n"
                 "  - rms_norm\n"
                 "  - linear: {out: 500, bias: false, tied: true}\n"
                 "  - softmax_loss\n");
    CHECK(placeless(sizes.layers) == placeless(layers.layers));
  }

  TEST_CASE("learned positions and dropout bring layers of their own") {
    const ModelSpec sizes = model_of(
        "{tokens: 128}",
        "transformer: {layers: 2, hidden: 64, heads: 8, ffn: 96, vocabulary: 500, positions: 128, causal: false}\n");
    const ModelSpec layers = model_of("{tokens: 128}",
                                      "layers:\n"
                                      "  - embedding: {vocabulary: 500, width: 64}\n"
                                      "  - position_embedding: {positions: 128}\n"
                                      "  - dropout\n"
                                      "  - repeat: {times: 2, layers: [transformer_block: {heads: 8, ffn: 96}]}\n"
                                      "  - layer_norm\n"
                                      "  - linear: {out: 500, bias: false}\n"
                                      "  - softmax_loss\n");
    CHECK(placeless(sizes.layers) == placeless(layers.layers));
  }

  TEST_CASE("experts and latent attention are read with what they leave out") {
    const ModelSpec model = model_of(
        "{tokens: 8}",
        "transformer: {layers: 3, hidden: 64, heads: 8, head_size: 16, ffn: 96, vocabulary: 500, positions: none,\n"
        "              latent: {query: 12, key_value: 6, rotary: 4},\n"
        "              experts: {count: 8, active: 2, shared: 1, ffn: 32, capacity: 1.5, dense_layers: 1}}\n");
    REQUIRE(model.layers.size() == 7);
    const auto& dense = std::get<TransformerBlockLayer>(std::get<RepeatLayer>(model.layers[2].layer).layers[0].layer);
    CHECK_FALSE(dense.experts.has_value());
    const RepeatLayer& sparse = std::get<RepeatLayer>(model.layers[3].layer);
    CHECK(sparse.times == 2);
    const auto& block = std::get<TransformerBlockLayer>(sparse.layers[0].layer);
    CHECK(block.experts == ExpertMixture{.count = 8, .active = 2, .shared = 1, .ffn = 32, .capacity = 1.5});
    CHECK(block.latent == LatentAttention{.query = 12, .key_value = 6, .rotary = 4});
    CHECK(block.head_size == 16);
    CHECK_FALSE(block.rotary);
  }

  TEST_CASE("parameters of a block reach lists and further inputs") {
    const ModelSpec model = model_of("{tokens: 2}",
                                     "blocks:\n"
                                     "  pieces:\n"
                                     "    parameters: [rows, side]\n"
                                     "    layers:\n"
                                     "      - embedding_tables: {vocabularies: [$rows, 7], width: 4}\n"
                                     "      - other_input: {image: [3, $side, $side]}\n"
                                     "layers:\n"
                                     "  - use: {block: pieces, rows: 90, side: 32}\n"
                                     "  - flatten\n"
                                     "  - softmax_loss\n");
    const GroupLayer& group = std::get<GroupLayer>(model.layers[0].layer);
    CHECK(std::get<EmbeddingTablesLayer>(group.layers[0].layer).vocabularies == std::vector<std::int64_t>{90, 7});
    CHECK(std::get<OtherInputLayer>(group.layers[1].layer).shape == image(3, 32, 32));
  }
}
