#include "scenario/layer_fields.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>

#include "scenario/shape_reader.hpp"
#include "scenario/transformer_reader.hpp"

namespace gpuscale {

namespace {

// Widths and lengths above this are no layer of anything, and products of a few still fit 64 bits.
constexpr std::int64_t kMostUnits = 100'000'000;
constexpr std::int64_t kMostSide = 100'000;

/// `k` for both sides, or `[height, width]`.
std::optional<Extent> read_extent(const YamlValue& value, std::string_view key, std::int64_t least, MapReader& fields) {
  Reading& reading = fields.reading();
  if (!value.is_list()) {
    const std::optional<std::int64_t> side = read_whole(value, least, kMostSide, reading);
    return side ? std::optional<Extent>(Extent{*side, *side}) : std::nullopt;
  }
  if (value.items.size() != 2) {
    reading.note(value.place(), fmt::format("'{}' must be one number, or two as [height, width]", key));
    return std::nullopt;
  }
  std::array<std::int64_t, 2> sides{least, least};
  for (std::size_t i = 0; i < 2; ++i) {
    const YamlValue* item = substituted(value.items[i], fields.bindings(), reading);
    if (item == nullptr) return std::nullopt;
    sides[i] = read_whole(*item, least, kMostSide, reading).value_or(std::max<std::int64_t>(least, 1));
  }
  return Extent{sides[0], sides[1]};
}

Extent extent(MapReader& fields, std::string_view key) {
  const YamlValue* value = fields.require(key, "3");
  return value == nullptr ? Extent{} : read_extent(*value, key, 1, fields).value_or(Extent{});
}

std::optional<Extent> optional_extent(MapReader& fields, std::string_view key, std::int64_t least) {
  const YamlValue* value = fields.find(key);
  return value == nullptr ? std::nullopt : read_extent(*value, key, least, fields);
}

LayerKind read_convolution(MapReader& fields) {
  ConvolutionLayer layer;
  layer.out = fields.whole("out", 1, kMostUnits);
  layer.kernel = extent(fields, "kernel");
  layer.stride = optional_extent(fields, "stride", 1).value_or(Extent{});
  const YamlValue* padding = fields.find("padding");
  layer.same_padding = padding != nullptr && padding->is_scalar() && padding->text == "same";
  if (!layer.same_padding) layer.padding = optional_extent(fields, "padding", 0).value_or(Extent{0, 0});
  layer.groups = fields.whole_or("groups", 1, 1, kMostUnits);
  layer.bias = fields.boolean_or("bias", true);
  return layer;
}

LayerKind read_pool(MapReader& fields, PoolKind kind) {
  PoolLayer layer;
  layer.kind = kind;
  layer.kernel = extent(fields, "kernel");
  layer.stride = optional_extent(fields, "stride", 1);
  layer.padding = optional_extent(fields, "padding", 0).value_or(Extent{0, 0});
  layer.ceil = fields.boolean_or("ceil", false);
  return layer;
}

LayerKind read_transposed_convolution(MapReader& fields) {
  TransposedConvolutionLayer layer;
  layer.out = fields.whole("out", 1, kMostUnits);
  layer.kernel = extent(fields, "kernel");
  layer.stride = optional_extent(fields, "stride", 1).value_or(Extent{});
  layer.padding = optional_extent(fields, "padding", 0).value_or(Extent{0, 0});
  layer.bias = fields.boolean_or("bias", true);
  return layer;
}

LayerKind read_linear(MapReader& fields) {
  LinearLayer layer;
  layer.out = fields.whole("out", 1, kMostUnits);
  layer.bias = fields.boolean_or("bias", true);
  layer.tied = fields.boolean_or("tied", false);
  if (fields.find("rows_of") != nullptr) layer.rows_of = fields.whole("rows_of", 1, kMostUnits);
  return layer;
}

LayerKind read_embedding(MapReader& fields) {
  EmbeddingLayer layer;
  layer.vocabulary = fields.whole("vocabulary", 1, kMostUnits * 100);
  layer.width = fields.whole("width", 1, kMostUnits);
  layer.tied = fields.boolean_or("tied", false);
  return layer;
}

LayerKind read_embedding_tables(MapReader& fields) {
  EmbeddingTablesLayer layer;
  layer.width = fields.whole("width", 1, kMostUnits);
  const YamlValue* value = fields.require("vocabularies", "[1000, 50]");
  if (value == nullptr) return layer;
  Reading& reading = fields.reading();
  if (!value->is_list() || value->items.empty()) {
    reading.note(value->place(), "'vocabularies' must be a list with the rows of each table, such as [1000, 50]");
    return layer;
  }
  for (const YamlValue& item : value->items) {
    const YamlValue* rows = substituted(item, fields.bindings(), reading);
    if (rows == nullptr) continue;
    layer.vocabularies.push_back(read_whole(*rows, 1, kMostUnits * 100, reading).value_or(1));
  }
  return layer;
}

LayerKind read_recurrent(MapReader& fields, RecurrentCell cell) {
  RecurrentLayer layer;
  layer.cell = cell;
  layer.hidden = fields.whole("hidden", 1, kMostUnits);
  layer.layers = fields.whole_or("layers", 1, 1, 10'000);
  layer.bidirectional = fields.boolean_or("bidirectional", false);
  layer.biases = fields.whole_or("biases", 2, 0, 2);
  layer.persistent = fields.boolean_or("persistent", false);
  return layer;
}

LayerKind read_attention(MapReader& fields) {
  AttentionLayer layer;
  layer.heads = fields.whole("heads", 1, kMostUnits);
  if (fields.find("kv_heads") != nullptr) layer.kv_heads = fields.whole("kv_heads", 1, kMostUnits);
  if (fields.find("head_size") != nullptr) layer.head_size = fields.whole("head_size", 1, kMostUnits);
  layer.causal = fields.boolean_or("causal", false);
  layer.cross = fields.boolean_or("cross", false);
  layer.bias = fields.boolean_or("bias", true);
  layer.rotary = fields.boolean_or("rotary", false);
  return layer;
}

struct SimpleLayer {
  std::string_view name;
  LayerKind (*read)(MapReader&);
  bool fieldless;
};

constexpr std::array<SimpleLayer, 42> kSimpleLayers = {{
    {"conv", &read_convolution, false},
    {"transposed_conv", &read_transposed_convolution, false},
    {"space_to_depth", [](MapReader& fields) -> LayerKind { return SpaceToDepthLayer{extent(fields, "block")}; },
     false},
    {"first_channels",
     [](MapReader& fields) -> LayerKind { return FirstChannelsLayer{fields.whole("out", 1, kMostUnits)}; }, false},
    {"to_sequence",
     [](MapReader& fields) -> LayerKind {
       return ToSequenceLayer{static_cast<SequencePosition>(fields.choice_or("position", kSequencePositionNames, 0))};
     },
     true},
    {"to_image", [](MapReader&) -> LayerKind { return ToImageLayer{}; }, true},
    {"max_pool", [](MapReader& fields) { return read_pool(fields, PoolKind::max); }, false},
    {"avg_pool", [](MapReader& fields) { return read_pool(fields, PoolKind::average); }, false},
    {"global_avg_pool", [](MapReader&) -> LayerKind { return GlobalAveragePoolLayer{}; }, true},
    {"flatten", [](MapReader&) -> LayerKind { return FlattenLayer{}; }, true},
    {"linear", &read_linear, false},
    {"batch_norm", [](MapReader&) -> LayerKind { return NormLayer{NormKind::batch_norm}; }, true},
    {"local_response_norm", [](MapReader&) -> LayerKind { return NormLayer{NormKind::local_response_norm}; }, true},
    {"layer_norm", [](MapReader&) -> LayerKind { return NormLayer{NormKind::layer_norm}; }, true},
    {"rms_norm", [](MapReader&) -> LayerKind { return NormLayer{NormKind::rms_norm}; }, true},
    {"relu", [](MapReader&) -> LayerKind { return ActivationLayer{ActivationKind::relu}; }, true},
    {"gelu", [](MapReader&) -> LayerKind { return ActivationLayer{ActivationKind::gelu}; }, true},
    {"gelu_tanh", [](MapReader&) -> LayerKind { return ActivationLayer{ActivationKind::gelu_tanh}; }, true},
    {"tanh", [](MapReader&) -> LayerKind { return ActivationLayer{ActivationKind::tanh}; }, true},
    {"sigmoid", [](MapReader&) -> LayerKind { return ActivationLayer{ActivationKind::sigmoid}; }, true},
    {"silu", [](MapReader&) -> LayerKind { return ActivationLayer{ActivationKind::silu}; }, true},
    {"gated_tanh", [](MapReader&) -> LayerKind { return GatedTanhLayer{}; }, true},
    {"dropout", [](MapReader&) -> LayerKind { return DropoutLayer{}; }, true},
    {"embedding", &read_embedding, false},
    {"embedding_tables", &read_embedding_tables, false},
    {"product", [](MapReader&) -> LayerKind { return ProductLayer{}; }, true},
    {"segment_embedding",
     [](MapReader& fields) -> LayerKind { return SegmentEmbeddingLayer{fields.whole("segments", 1, kMostUnits)}; },
     false},
    {"position_embedding",
     [](MapReader& fields) -> LayerKind { return PositionEmbeddingLayer{fields.whole("positions", 1, kMostUnits)}; },
     false},
    {"lstm", [](MapReader& fields) { return read_recurrent(fields, RecurrentCell::lstm); }, false},
    {"gru", [](MapReader& fields) { return read_recurrent(fields, RecurrentCell::gru); }, false},
    {"rnn", [](MapReader& fields) { return read_recurrent(fields, RecurrentCell::rnn); }, false},
    {"attention", &read_attention, false},
    {"additive_attention",
     [](MapReader& fields) -> LayerKind { return AdditiveAttentionLayer{fields.whole("width", 1, kMostUnits)}; },
     false},
    {"transformer_block", [](MapReader& fields) -> LayerKind { return read_transformer_block(fields); }, false},
    {"context", [](MapReader&) -> LayerKind { return ContextLayer{}; }, true},
    {"class_token", [](MapReader&) -> LayerKind { return ClassTokenLayer{}; }, true},
    {"gather_tokens",
     [](MapReader& fields) -> LayerKind { return GatherTokensLayer{fields.number("share", 1e-6, 1.0)}; }, false},
    {"other_input",
     [](MapReader& fields) -> LayerKind { return OtherInputLayer{read_shape(fields, "a further input")}; }, false},
    {"remember", [](MapReader& fields) -> LayerKind { return RememberLayer{fields.text("as", "mel")}; }, false},
    {"recall", [](MapReader& fields) -> LayerKind { return RecallLayer{fields.text("what", "mel")}; }, false},
    {"first_token", [](MapReader&) -> LayerKind { return FirstTokenLayer{}; }, true},
    {"softmax_loss", [](MapReader&) -> LayerKind { return SoftmaxLossLayer{}; }, true},
}};

constexpr auto kSimpleNames = [] {
  std::array<std::string_view, kSimpleLayers.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kSimpleLayers[i].name;
  return names;
}();

}  // namespace

std::optional<LayerKind> read_simple_layer(std::string_view kind, MapReader& fields) {
  const auto found = std::ranges::find(kSimpleLayers, kind, &SimpleLayer::name);
  return found == kSimpleLayers.end() ? std::nullopt : std::optional<LayerKind>(found->read(fields));
}

std::span<const std::string_view> simple_layer_names() { return kSimpleNames; }

bool is_fieldless(std::string_view kind) {
  const auto found = std::ranges::find(kSimpleLayers, kind, &SimpleLayer::name);
  return found != kSimpleLayers.end() && found->fieldless;
}

}  // namespace gpuscale
