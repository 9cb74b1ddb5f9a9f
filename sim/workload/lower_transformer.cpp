// The Transformer block: attention and a feed-forward net, each with norm, dropout and residual sum.

#include <algorithm>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

/// The pieces of one block; each adds its steps to the same layer.
class Block {
 public:
  Block(Lowering& lowering, Draft& draft, const TransformerBlockLayer& layer, const Shape& shape)
      : lowering_(lowering),
        draft_(draft),
        layer_(layer),
        shape_(shape),
        tensor_(lowering.bytes(number_count(shape))) {}

  /// Keeps its result, which the next product reads. Its input is kept by the caller.
  void add_norm(const std::string& name) {
    const double width = static_cast<double>(shape_.width);
    const bool centred = layer_.norm == BlockNorm::layer_norm;
    draft_.parameter(name + ".weight", width);
    if (centred) draft_.parameter(name + ".bias", width);
    draft_.stream(2.0 * tensor_, 5.0 * tensor_);
    draft_.save(static_cast<double>(shape_.length) * lowering_.batch() * Bytes(centred ? 8 : 4));
    draft_.save(tensor_);
  }

  /// Dropout and the sum with what went around.
  void add_residual() {
    const Bytes mask = number_count(shape_) * lowering_.batch() * Bytes(1);
    if (layer_.dropout) draft_.save(mask);
    if (layer_.dropout && lowering_.options().fused_elementwise) {
      draft_.stream(3.0 * tensor_ + mask, 3.0 * tensor_ + mask);
      return;
    }
    if (layer_.dropout) draft_.stream(2.0 * tensor_ + mask, 2.0 * tensor_ + mask);
    draft_.stream(3.0 * tensor_, 3.0 * tensor_);
  }

  void add_self_attention(bool needs_gradient) {
    add_norm("norm_attention");
    AttentionSteps steps = attention();
    steps.causal = layer_.causal;
    steps.needs_gradient = needs_gradient;
    steps.rotary = layer_.rotary;
    steps.memory = layer_.memory;
    steps.relative_positions = layer_.relative_positions;
    steps.latent = layer_.latent;
    steps.name_prefix = "attention.";
    add_attention(lowering_, draft_, steps);
    add_residual();
  }

  void add_cross_attention(ValueId encoder) {
    draft_.save(tensor_);
    add_norm("norm_cross");
    draft_.save(encoder);
    AttentionSteps steps = attention();
    steps.keys = encoder;
    steps.name_prefix = "cross.";
    add_attention(lowering_, draft_, steps);
    add_residual();
  }

  void add_feed_forward() {
    draft_.save(tensor_);
    add_norm("norm_ffn");
    const FeedForwardSteps net{.width = shape_.width,
                               .ffn = layer_.ffn,
                               .rows = lowering_.options().batch * shape_.length,
                               .activation = layer_.activation,
                               .bias = layer_.bias};
    if (layer_.experts) {
      add_experts(lowering_, draft_, *layer_.experts, net);
    } else {
      gpuscale::add_feed_forward(lowering_, draft_, net);
    }
    add_residual();
  }

 private:
  [[nodiscard]] AttentionSteps attention() const {
    return {.query = shape_,
            .heads = layer_.heads,
            .kv_heads = layer_.kv_heads.value_or(layer_.heads),
            .head_size = layer_.head_size.value_or(shape_.width / layer_.heads),
            .bias = layer_.bias,
            .dropout = layer_.dropout};
  }

  Lowering& lowering_;
  Draft& draft_;
  const TransformerBlockLayer& layer_;
  Shape shape_;
  Bytes tensor_;
};

}  // namespace

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const TransformerBlockLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape shape = lowering.shape(in);
  if (!layer.head_size && !heads_divide(lowering, spec, layer.heads, shape)) return in;
  const std::int64_t heads = layer.heads * layer.head_size.value_or(shape.width / layer.heads);
  if (!lowering.is_reasonable(spec, sequence(shape.length, heads))) return std::nullopt;
  const std::int64_t inner = layer.experts ? layer.experts->ffn.value_or(layer.ffn) : layer.ffn;
  if (!lowering.is_reasonable(spec, sequence(shape.length, std::max(inner, layer.memory)))) return std::nullopt;
  Draft draft(lowering, spec, in);
  Block block(lowering, draft, layer, shape);
  draft.save(in);
  block.add_self_attention(true);  // the norm before it has weights, so its errors are always wanted
  if (layer.cross) block.add_cross_attention(*lowering.encoder);
  block.add_feed_forward();
  return draft.finish(shape);
}

}  // namespace gpuscale
