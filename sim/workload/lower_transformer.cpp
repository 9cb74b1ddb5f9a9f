// The Transformer block: attention and a feed-forward net, each with norm, dropout and residual sum.

#include <algorithm>
#include <utility>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

/// One of the parts of a block: norm, products, residual sum. Each is a layer of its own, because ranks that
/// share a block exchange between them.
class BlockPart {
 public:
  BlockPart(Lowering& lowering, const LayerSpec& spec, const TransformerBlockLayer& layer, std::string name,
            std::string_view kind, ValueId in)
      : lowering_(lowering),
        draft_(lowering, spec, std::move(name), kind, in),
        layer_(layer),
        shape_(lowering.shape(in)),
        flowing_(lowering.flowing(shape_)) {
    draft_.save(in);
  }

  ValueId self_attention() {
    add_norm("norm_attention");
    AttentionSteps steps = attention();
    steps.causal = layer_.causal;
    steps.needs_gradient = true;  // the norm before it has weights, so its errors are always wanted
    steps.rotary = layer_.rotary;
    steps.memory = layer_.memory;
    steps.relative_positions = layer_.relative_positions;
    steps.latent = layer_.latent;
    steps.name_prefix = "attention.";
    add_attention(lowering_, draft_, steps);
    return finish();
  }

  ValueId cross_attention(ValueId encoder) {
    add_norm("norm_cross");
    draft_.save(encoder);
    AttentionSteps steps = attention();
    steps.keys = encoder;
    steps.name_prefix = "cross.";
    add_attention(lowering_, draft_, steps);
    return finish();
  }

  ValueId feed_forward() {
    add_norm("norm_ffn");
    const std::int64_t ranks = lowering_.options().tensor;
    const FeedForwardSteps net{.width = shape_.width,
                               .ffn = layer_.ffn / ranks,
                               .rows = lowering_.options().batch * shape_.length,
                               .activation = layer_.activation,
                               .bias = layer_.bias,
                               .divided = ranks > 1};
    if (layer_.experts) {
      add_experts(lowering_, draft_, *layer_.experts, net);
    } else {
      gpuscale::add_feed_forward(lowering_, draft_, net);
    }
    return finish();
  }

 private:
  /// Keeps its result, which the next product reads.
  void add_norm(const std::string& name) {
    const double width = static_cast<double>(shape_.width);
    const bool centred = layer_.norm == BlockNorm::layer_norm;
    draft_.parameter(name + ".weight", width);
    if (centred) draft_.parameter(name + ".bias", width);
    const WrittenOutOperators& written_out = lowering_.written_out();
    if (const std::optional<WrittenOut>& form = centred ? written_out.layer_norm : written_out.rms_norm) {
      draft_.written_out(*form, positions() * width);
    } else {
      draft_.stream(2.0 * flowing_, 5.0 * flowing_);
    }
    draft_.save(positions() * Bytes(centred ? 8 : 4));
    draft_.save(flowing_);
  }

  ValueId finish() {
    add_tensor_exchanges(lowering_, draft_, lowering_.bytes(number_count(shape_)));
    add_residual();
    return draft_.finish(shape_);
  }

  /// Dropout and the sum with what went around.
  void add_residual() {
    const double numbers = positions() * static_cast<double>(shape_.width);
    if (const std::optional<WrittenOut>& form = lowering_.written_out().dropout; form && layer_.dropout) {
      draft_.written_out(*form, numbers);
      draft_.stream(3.0 * flowing_, 3.0 * flowing_);
      return;
    }
    const Bytes mask = numbers * Bytes(1);
    if (layer_.dropout) draft_.save(mask);
    if (layer_.dropout && lowering_.options().fused_elementwise) {
      draft_.stream(3.0 * flowing_ + mask, 3.0 * flowing_ + mask);
      return;
    }
    if (layer_.dropout) draft_.stream(2.0 * flowing_ + mask, 2.0 * flowing_ + mask);
    draft_.stream(3.0 * flowing_, 3.0 * flowing_);
  }

  /// Of the batch, those on this rank.
  [[nodiscard]] double positions() const {
    return static_cast<double>(shape_.length) * lowering_.batch() * lowering_.position_share();
  }

  /// Of this rank's heads.
  [[nodiscard]] AttentionSteps attention() const {
    const std::int64_t ranks = lowering_.options().tensor;
    const std::int64_t kv_heads = layer_.kv_heads.value_or(layer_.heads);
    return {.query = shape_,
            .heads = layer_.heads / ranks,
            .kv_heads = std::max<std::int64_t>(1, kv_heads / ranks),
            .head_size = layer_.head_size.value_or(shape_.width / layer_.heads),
            .bias = layer_.bias,
            .dropout = layer_.dropout};
  }

  Lowering& lowering_;
  Draft draft_;
  const TransformerBlockLayer& layer_;
  Shape shape_;
  Bytes flowing_;
};

/// Whether heads, feed-forward nets and experts can be shared out as asked; if not, with a problem.
bool divides(Lowering& lowering, const LayerSpec& spec, const TransformerBlockLayer& layer) {
  const LowerOptions& options = lowering.options();
  const std::int64_t ranks = options.tensor;
  const std::int64_t kv_heads = layer.kv_heads.value_or(layer.heads);
  const std::int64_t ffn = layer.experts ? layer.experts->ffn.value_or(layer.ffn) : layer.ffn;
  bool good = splits_evenly(lowering, spec, layer.heads, "heads", ranks);
  // Ranks beyond the key and value heads share them: each head is then on several ranks.
  good = good && (ranks % kv_heads == 0 || splits_evenly(lowering, spec, kv_heads, "key and value heads", ranks));
  good = good && splits_evenly(lowering, spec, ffn, "feed-forward columns", ranks);
  if (options.context > 1 && options.context_method == ContextMethod::all_to_all)
    good = good && splits_evenly(lowering, spec, layer.heads / ranks, "heads of a rank", options.context);
  if (layer.experts) good = good && splits_evenly(lowering, spec, layer.experts->count, "experts", options.expert);
  return good;
}

}  // namespace

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const TransformerBlockLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape shape = lowering.shape(in);
  if (!layer.head_size && !heads_divide(lowering, spec, layer.heads, shape)) return in;
  const std::int64_t heads = layer.heads * layer.head_size.value_or(shape.width / layer.heads);
  if (!lowering.is_reasonable(spec, sequence(shape.length, heads))) return std::nullopt;
  const std::int64_t inner = layer.experts ? layer.experts->ffn.value_or(layer.ffn) : layer.ffn;
  if (!lowering.is_reasonable(spec, sequence(shape.length, std::max(inner, layer.memory)))) return std::nullopt;
  if (!divides(lowering, spec, layer)) return in;

  const std::string name = lowering.new_name(spec);
  ValueId out = BlockPart(lowering, spec, layer, name + ".attention", "self_attention", in).self_attention();
  lowering.open_bypass();  // the parts of a block stay together
  if (layer.cross) {
    out = BlockPart(lowering, spec, layer, name + ".cross", "cross_attention", out).cross_attention(*lowering.encoder);
  }
  out = BlockPart(lowering, spec, layer, name + ".feed_forward", "feed_forward", out).feed_forward();
  lowering.close_bypass();
  return out;
}

}  // namespace gpuscale
