#include "scenario/transformer_reader.hpp"

#include <fmt/format.h>

namespace gpuscale {

namespace {

constexpr std::int64_t kMostUnits = 100'000'000;
constexpr std::int64_t kMostBlocks = 10'000;
constexpr double kMostCapacity = 1000.0;

std::optional<std::int64_t> optional_whole(MapReader& fields, std::string_view key) {
  if (fields.find(key) == nullptr) return std::nullopt;
  return fields.whole(key, 1, kMostUnits);
}

/// `dense_layers` stands among the experts only where there is a chain of blocks.
ExpertMixture read_experts(MapReader& block, const YamlValue& value, std::int64_t* dense_layers) {
  MapReader fields(value, "experts", "-", block.reading(), block.bindings());
  ExpertMixture experts;
  experts.count = fields.whole("count", 1, kMostUnits);
  experts.active = fields.whole("active", 1, kMostUnits);
  experts.shared = fields.whole_or("shared", 0, 0, kMostUnits);
  experts.ffn = optional_whole(fields, "ffn");
  if (fields.find("capacity") != nullptr) experts.capacity = fields.number("capacity", 0.01, kMostCapacity);
  if (dense_layers != nullptr) *dense_layers = fields.whole_or("dense_layers", 0, 0, kMostBlocks);
  fields.finish();
  return experts;
}

LatentAttention read_latent(MapReader& block, const YamlValue& value) {
  MapReader fields(value, "latent", "-", block.reading(), block.bindings());
  LatentAttention latent;
  latent.query = fields.whole("query", 1, kMostUnits);
  latent.key_value = fields.whole("key_value", 1, kMostUnits);
  latent.rotary = fields.whole_or("rotary", 0, 0, kMostUnits);
  fields.finish();
  return latent;
}

/// Fields that a block has alone and in a chain.
TransformerBlockLayer read_common(MapReader& fields, std::int64_t* dense_layers) {
  TransformerBlockLayer block;
  block.heads = fields.whole("heads", 1, kMostUnits);
  block.kv_heads = optional_whole(fields, "kv_heads");
  block.head_size = optional_whole(fields, "head_size");
  block.ffn = fields.whole("ffn", 1, kMostUnits);
  block.activation = static_cast<FeedForward>(
      fields.choice_or("activation", kFeedForwardNames, static_cast<std::size_t>(FeedForward::gelu)));
  block.norm = static_cast<BlockNorm>(fields.choice_or("norm", kBlockNormNames, 0));
  block.bias = fields.boolean_or("bias", true);
  block.dropout = fields.boolean_or("dropout", true);
  if (const YamlValue* experts = fields.find("experts")) block.experts = read_experts(fields, *experts, dense_layers);
  if (const YamlValue* latent = fields.find("latent")) block.latent = read_latent(fields, *latent);
  return block;
}

}  // namespace

TransformerBlockLayer read_transformer_block(MapReader& fields) {
  TransformerBlockLayer block = read_common(fields, nullptr);
  block.causal = fields.boolean_or("causal", false);
  block.cross = fields.boolean_or("cross", false);
  block.rotary = fields.boolean_or("rotary", false);
  block.memory = fields.whole_or("memory", 0, 0, kMostUnits);
  block.relative_positions = fields.boolean_or("relative_positions", false);
  return block;
}

TransformerSpec read_transformer(MapReader& fields) {
  TransformerSpec spec;
  spec.layers = fields.whole("layers", 1, kMostBlocks);
  spec.hidden = fields.whole("hidden", 1, kMostUnits);
  spec.vocabulary = fields.whole("vocabulary", 1, kMostUnits);
  spec.block = read_common(fields, &spec.dense_layers);
  spec.block.causal = fields.boolean_or("causal", true);
  spec.tied = fields.boolean_or("tied", false);
  if (const YamlValue* positions = fields.require("positions", "2048")) {
    const std::string_view word = positions->is_scalar() ? std::string_view(positions->text) : std::string_view();
    spec.block.rotary = word == "rotary";
    if (word != "rotary" && word != "none") {
      if (!word.empty() && (word.front() < '0' || word.front() > '9')) {
        fields.reading().note(
            positions->place(),
            fmt::format("unknown positions {}; write 'rotary', 'none' or how many are learned", in_quotes(word)));
      } else {
        spec.positions = read_whole(*positions, 1, kMostUnits, fields.reading());
      }
    }
  }
  if (spec.dense_layers > spec.layers) {
    fields.reading().note(fields.place("experts"),
                          fmt::format("{} dense layers are more than the {} layers", spec.dense_layers, spec.layers));
  }
  return spec;
}

}  // namespace gpuscale
