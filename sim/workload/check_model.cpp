#include "workload/check_model.hpp"

#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

/// Where in the tree the walk is.
struct Surroundings {
  bool in_decoder = false;
  std::string_view joined_by = "";  ///< the container that needs this layer's output, if any
};

class Checker {
 public:
  Checker(std::vector<Problem>& problems, ModelCheck& found) : problems_(problems), found_(found) {}

  void walk(const std::vector<LayerSpec>& layers, const Surroundings& around) {
    for (const LayerSpec& layer : layers) {
      spec_ = &layer;
      around_ = around;
      std::visit([this](const auto& kind) { check(kind); }, layer.layer);
      descend(layer, around);
    }
  }

 private:
  void note(const std::string& text) {
    const std::string kind(kind_name(spec_->layer));
    const std::string title = spec_->name.empty() ? kind : fmt::format("{} '{}'", kind, spec_->name);
    problems_.push_back({spec_->place, fmt::format("{}: {}", title, text)});
    found_.unusable.insert(spec_);
  }

  void size(std::string_view field, std::int64_t value, std::int64_t least = 1) {
    if (value < least) note(fmt::format("'{}' is {}; it must be at least {}", field, value, least));
    if (value > kLargestSize) note(fmt::format("'{}' is {}; it must be at most 2^30", field, value));
  }
  void size(std::string_view field, const Extent& extent, std::int64_t least = 1) {
    size(field, extent.height, least);
    if (extent.width != extent.height) size(field, extent.width, least);
  }

  void heads(std::int64_t heads, const std::optional<std::int64_t>& kv_heads,
             const std::optional<std::int64_t>& head_size) {
    size("heads", heads);
    if (head_size) size("head_size", *head_size);
    if (!kv_heads) return;
    size("kv_heads", *kv_heads);
    if (*kv_heads >= 1 && heads >= 1 && heads % *kv_heads != 0) {
      note(fmt::format("{} kv_heads do not divide {} heads", *kv_heads, heads));
    }
  }

  void sees_encoder() {
    if (!around_.in_decoder) note("looks at an encoder; it must stand in the decoder of encoder_decoder");
  }

  void check(const ConvolutionLayer& layer) {
    size("out", layer.out);
    size("kernel", layer.kernel);
    size("stride", layer.stride);
    size("padding", layer.padding, 0);
    size("groups", layer.groups);
    if (layer.groups >= 1 && layer.out >= 1 && layer.out % layer.groups != 0) {
      note(fmt::format("{} groups do not divide {} output channels", layer.groups, layer.out));
    }
  }
  void check(const TransposedConvolutionLayer& layer) {
    size("out", layer.out);
    size("kernel", layer.kernel);
    size("stride", layer.stride);
    size("padding", layer.padding, 0);
  }
  void check(const SpaceToDepthLayer& layer) { size("block", layer.block); }
  void check(const FirstChannelsLayer& layer) { size("out", layer.out); }
  void check(const PoolLayer& layer) {
    size("kernel", layer.kernel);
    if (layer.stride) size("stride", *layer.stride);
    size("padding", layer.padding, 0);
    if (layer.padding.height >= layer.kernel.height || layer.padding.width >= layer.kernel.width) {
      note("'padding' must be smaller than 'kernel', or windows hold no input");
    }
  }
  void check(const LinearLayer& layer) {
    size("out", layer.out);
    if (!layer.rows_of) return;
    size("rows_of", *layer.rows_of);
    if (!layer.tied) note("'rows_of' is the vocabulary of a tied embedding; write 'tied: true' too");
    if (layer.out > *layer.rows_of)
      note(fmt::format("'out' is {}, more than the {} of 'rows_of'", layer.out, *layer.rows_of));
  }
  void check(const EmbeddingLayer& layer) {
    size("vocabulary", layer.vocabulary);
    size("width", layer.width);
  }
  void check(const EmbeddingTablesLayer& layer) {
    if (layer.vocabularies.empty()) note("'vocabularies' has no tables");
    for (const std::int64_t vocabulary : layer.vocabularies) size("vocabularies", vocabulary);
    size("width", layer.width);
  }
  void check(const SegmentEmbeddingLayer& layer) { size("segments", layer.segments); }
  void check(const GatherTokensLayer& layer) {
    if (!(layer.share > 0.0 && layer.share <= 1.0)) {
      note(fmt::format("'share' is {}; it must be above 0 and at most 1", layer.share));
    }
  }
  void check(const OtherInputLayer& layer) {
    const Shape& shape = layer.shape;
    for (const std::int64_t side : {shape.channels, shape.height, shape.width, shape.length}) {
      if (side >= 1 && side <= kLargestSize) continue;
      note(fmt::format("input of {}: sizes must be between 1 and 2^30", describe(shape)));
      return;
    }
    if (number_count(shape) > kLargestTensor) {
      note(fmt::format("input of {} has more than 2^40 numbers", describe(shape)));
    }
  }
  void check(const ContextLayer&) { sees_encoder(); }
  void check(const PositionEmbeddingLayer& layer) { size("positions", layer.positions); }
  void check(const RecurrentLayer& layer) {
    size("hidden", layer.hidden);
    size("layers", layer.layers);
    if (layer.biases < 0 || layer.biases > 2) note(fmt::format("'biases' is {}; it is 0, 1 or 2", layer.biases));
  }
  void check(const AttentionLayer& layer) {
    heads(layer.heads, layer.kv_heads, layer.head_size);
    if (layer.cross) sees_encoder();
  }
  void check(const AdditiveAttentionLayer& layer) {
    size("width", layer.width);
    sees_encoder();
  }
  void check(const TransformerBlockLayer& layer) {
    heads(layer.heads, layer.kv_heads, layer.head_size);
    size("ffn", layer.ffn);
    size("memory", layer.memory, 0);
    if (layer.cross) sees_encoder();
    if (layer.experts) check(*layer.experts);
    if (layer.latent) check(layer, *layer.latent);
  }
  void check(const ExpertMixture& experts) {
    size("experts.count", experts.count);
    size("experts.active", experts.active);
    size("experts.shared", experts.shared, 0);
    if (experts.ffn) size("experts.ffn", *experts.ffn);
    if (experts.active > experts.count) {
      note(fmt::format("a token visits {} experts but there are {}", experts.active, experts.count));
    }
    if (experts.capacity && !(*experts.capacity > 0.0 && *experts.capacity <= 1000.0)) {
      note(fmt::format("'experts.capacity' is {}; it must be above 0 and at most 1000", *experts.capacity));
    }
  }
  void check(const TransformerBlockLayer& layer, const LatentAttention& latent) {
    size("latent.query", latent.query);
    size("latent.key_value", latent.key_value);
    size("latent.rotary", latent.rotary, 0);
    if (latent.rotary % 2 != 0) note("'latent.rotary' must be even: positions turn pairs of numbers");
    if (layer.kv_heads) note("latent attention has keys and values for every head; leave 'kv_heads' out");
    if (layer.memory > 0 || layer.relative_positions) {
      note("latent attention knows no 'memory' and no 'relative_positions'");
    }
  }
  void check(const SoftmaxLossLayer&) {
    if (!around_.joined_by.empty()) {
      note(fmt::format("inside {}; it must be the last layer of the model", around_.joined_by));
    }
  }
  void check(const ResidualLayer& layer) {
    if (layer.body.empty()) note("'body' has no layers");
  }
  void check(const GateLayer& layer) {
    if (layer.body.empty()) note("'body' has no layers");
  }
  void check(const InteractionLayer& layer) {
    if (layer.dense.empty()) note("'dense' has no layers");
  }
  void check(const HeadsLayer& layer) {
    if (layer.heads.empty()) note("has no heads");
    if (!around_.joined_by.empty()) {
      note(fmt::format("inside {}; it must be the last layer of the model", around_.joined_by));
    }
  }
  void check(const BranchesLayer& layer) {
    if (layer.branches.empty()) note("has no branches");
  }
  void check(const RepeatLayer& layer) {
    if (layer.times < 1) note(fmt::format("'times' is {}; it must be at least 1", layer.times));
    if (layer.layers.empty()) note("has no layers to repeat");
  }
  void check(const EncoderDecoderLayer& layer) {
    if (layer.encoder.empty()) note("'encoder' has no layers");
    if (layer.decoder.empty()) note("'decoder' has no layers");
  }
  template <class Other>
  void check(const Other&) {}  // kinds without sizes

  void descend(const LayerSpec& layer, const Surroundings& around) {
    const Surroundings joined{.in_decoder = around.in_decoder, .joined_by = kind_name(layer.layer)};
    if (const auto* residual = std::get_if<ResidualLayer>(&layer.layer)) {
      walk(residual->body, joined);
      walk(residual->shortcut, joined);
    } else if (const auto* split = std::get_if<BranchesLayer>(&layer.layer)) {
      for (const std::vector<LayerSpec>& branch : split->branches) walk(branch, joined);
    } else if (const auto* gate = std::get_if<GateLayer>(&layer.layer)) {
      walk(gate->body, joined);
    } else if (const auto* interaction = std::get_if<InteractionLayer>(&layer.layer)) {
      walk(interaction->dense, joined);
    } else if (const auto* several = std::get_if<HeadsLayer>(&layer.layer)) {
      for (const std::vector<LayerSpec>& head : several->heads) walk(head, around);
    } else if (const auto* repeat = std::get_if<RepeatLayer>(&layer.layer)) {
      walk(repeat->layers, around);
    } else if (const auto* group = std::get_if<GroupLayer>(&layer.layer)) {
      walk(group->layers, around);
    } else if (const auto* both = std::get_if<EncoderDecoderLayer>(&layer.layer)) {
      walk(both->encoder, {.in_decoder = false, .joined_by = "an encoder"});
      walk(both->decoder, {.in_decoder = true, .joined_by = around.joined_by});
    } else if (const auto* linear = std::get_if<LinearLayer>(&layer.layer)) {
      found_.embedding_is_tied |= linear->tied;
    } else if (const auto* embedding = std::get_if<EmbeddingLayer>(&layer.layer)) {
      found_.embedding_is_tied |= embedding->tied;
    }
  }

  std::vector<Problem>& problems_;
  ModelCheck& found_;
  const LayerSpec* spec_ = nullptr;
  Surroundings around_;
};

}  // namespace

ModelCheck check_model(const ModelSpec& model, std::vector<Problem>& problems) {
  ModelCheck found;
  const Shape& input = model.input;
  for (const std::int64_t size : {input.channels, input.height, input.width, input.length}) {
    if (size >= 1 && size <= kLargestSize) continue;
    problems.push_back(
        {model.input_place, fmt::format("input of {}: sizes must be between 1 and 2^30", describe(input))});
    found.input_is_usable = false;
    break;
  }
  if (found.input_is_usable && number_count(input) > kLargestTensor) {
    problems.push_back({model.input_place, fmt::format("input of {} has more than 2^40 numbers", describe(input))});
    found.input_is_usable = false;
  }
  Checker(problems, found).walk(model.layers, {});
  return found;
}

}  // namespace gpuscale
