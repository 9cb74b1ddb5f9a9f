// Attention in its two forms, and what belongs to sequences.

#include <algorithm>
#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

bool is_sequence(Lowering& lowering, const LayerSpec& layer, ValueId in) {
  const Shape& shape = lowering.shape(in);
  if (shape.kind == ShapeKind::sequence) return true;
  lowering.note(layer, fmt::format("works on a sequence, but its input is {}{}", describe(shape),
                                   shape.kind == ShapeKind::tokens ? "; put an embedding before it" : ""));
  return false;
}

bool heads_divide(Lowering& lowering, const LayerSpec& layer, std::int64_t heads, const Shape& shape) {
  if (shape.width % heads == 0) return true;
  lowering.note(layer, fmt::format("{} heads do not divide a width of {}", heads, shape.width));
  return false;
}

namespace {

/// Products that make queries, keys and values of the input, each with what it keeps.
class Projections {
 public:
  Projections(Lowering& lowering, Draft& draft, const AttentionSteps& steps)
      : lowering_(lowering), draft_(draft), steps_(steps), heads_(steps.heads * steps.head_size) {}

  /// One product for all three, or one for the queries and one for keys and values where those differ.
  void add() {
    const Shape& query = steps_.query;
    const Shape keys = steps_.keys ? lowering_.shape(*steps_.keys) : query;
    const std::int64_t key_width = steps_.head_size * steps_.kv_heads;
    const std::int64_t seen = keys.length + steps_.memory;
    if (!steps_.keys && steps_.kv_heads == steps_.heads) {
      product("qkv", 3 * heads_, query.width, seen, steps_.needs_gradient);
    } else {
      product("query", heads_, query.width, query.length, steps_.needs_gradient);
      product("key_value", 2 * key_width, keys.width, seen,
              steps_.keys ? lowering_.needs_gradient(*steps_.keys) : steps_.needs_gradient);
    }
    keep(real(heads_) * real(query.length) + 2.0 * real(key_width) * real(seen));
    if (steps_.rotary) add_rotation(real(query.length) * real(heads_ + key_width));
  }

  /// Down to two narrow vectors, their norms, and up to every head.
  void add(const LatentAttention& latent) {
    const Shape& query = steps_.query;
    const double length = real(query.length);
    const std::int64_t turned = steps_.heads * (steps_.head_size + latent.rotary);
    product("query_down", latent.query, query.width, query.length, steps_.needs_gradient);
    add_norm("query_norm", latent.query);
    product("query_up", turned, latent.query, query.length, true);
    product("key_value_down", latent.key_value + latent.rotary, query.width, query.length, steps_.needs_gradient);
    add_norm("key_value_norm", latent.key_value);
    product("key_value_up", 2 * heads_, latent.key_value, query.length, true);
    keep(length * real(2 * turned + heads_));
    add_rotation(length * real((steps_.heads + 1) * latent.rotary));
  }

  /// Keys of distances and the product of every query with them; its result is moved into place.
  void add_relative_positions() {
    const std::int64_t seen = steps_.query.length + steps_.memory;
    const std::int64_t batch = lowering_.options().batch;
    const std::string distance = named("distance");
    draft_.product({.name = distance,
                    .out = heads_,
                    .in = steps_.query.width,
                    .rows = seen,
                    .bias = false,
                    .needs_gradient = false});
    draft_.parameter(named("content_bias"), real(heads_));
    draft_.parameter(named("position_bias"), real(heads_));
    const std::int64_t batches = batch * steps_.heads;
    const std::int64_t length = steps_.query.length;
    const std::int64_t size = steps_.head_size;
    const GemmKernel scores{.m = seen, .n = length, .k = size, .batch = batches, .layout = kTransposedA};
    const GemmKernel queries{.m = size, .n = length, .k = seen, .batch = batches};
    const GemmKernel distances{.m = size, .n = seen, .k = length, .batch = batches, .layout = kTransposedB};
    draft_.step({scores}, {queries, distances}, 1, 2);
    const Bytes shifted = 2.0 * lowering_.bytes(real(steps_.heads) * real(steps_.query.length) * real(seen));
    draft_.stream(shifted, shifted);
  }

 private:
  [[nodiscard]] std::string named(std::string_view name) const {
    return std::string(steps_.name_prefix) + std::string(name);
  }

  void product(std::string_view name, std::int64_t out, std::int64_t in, std::int64_t length, bool needs_gradient) {
    const std::string full = named(name);
    draft_.product({.name = full,
                    .out = out,
                    .in = in,
                    .rows = lowering_.options().batch * length,
                    .bias = steps_.bias,
                    .needs_gradient = needs_gradient,
                    .split = lowering_.options().tensor > 1});
  }

  /// rms_norm of a narrow vector, which is kept before and after.
  void add_norm(std::string_view name, std::int64_t width) {
    const double numbers = real(width) * real(steps_.query.length);
    draft_.parameter(named(name), real(width));
    draft_.stream(2.0 * lowering_.bytes(numbers), 5.0 * lowering_.bytes(numbers));
    keep(2.0 * numbers);
  }

  void add_rotation(double numbers) {
    if (lowering_.options().fused_elementwise) return;
    draft_.stream(2.0 * lowering_.bytes(numbers), 2.0 * lowering_.bytes(numbers));
  }

  void keep(double numbers) { draft_.save(lowering_.bytes(numbers)); }

  Lowering& lowering_;
  Draft& draft_;
  const AttentionSteps& steps_;
  std::int64_t heads_;  // numbers of all heads
};

}  // namespace

namespace {

/// What one rank computes of attention over all positions, and what it needs of others for it.
AttentionKernel attention_kernel(Lowering& lowering, Draft& draft, const AttentionSteps& attention) {
  const LowerOptions& options = lowering.options();
  const Shape keys = attention.keys ? lowering.shape(*attention.keys) : attention.query;
  // Latent attention: queries and keys are longer than values; the mean has the right FLOP.
  const std::int64_t position = attention.latent ? attention.latent->rotary / 2 : 0;
  AttentionKernel kernel{.batch = options.batch,
                         .query_length = attention.query.length,
                         .key_length = keys.length + attention.memory,
                         .heads = attention.heads,
                         .kv_heads = attention.kv_heads,
                         .head_size = attention.head_size + position,
                         .causal = attention.causal && !attention.keys,
                         .fused = options.fused_attention};
  const std::int64_t ranks = options.context;
  if (ranks == 1) return kernel;

  const double head_numbers = real(attention.head_size) * real(keys.length);
  const Bytes keys_and_values = lowering.bytes(2.0 * real(attention.kv_heads) * head_numbers * real(ranks));
  if (options.context_method == ContextMethod::ring) {
    // With both ends of the sequence a mask leaves all ranks the same work, half; else the last sees all but half of
    // its own part, and the others wait for it.
    const std::int64_t all = keys.length * ranks;
    const std::int64_t masked = options.context_balanced ? all / 2 : keys.length / 2;
    kernel.key_length = kernel.causal ? all - masked : all;
    kernel.causal = false;
    const LayerExchange round{.axis = SplitAxis::context,
                              .what = LayerCollective::all_gather,
                              .when = ExchangeMoment::beside,
                              .size = keys_and_values};
    draft.exchange_forward(round);
    draft.exchange_backward(round);  // keys and values again, and with them their errors
    draft.exchange_backward(round);
    return kernel;
  }
  kernel.query_length *= ranks;
  kernel.key_length = keys.length * ranks + attention.memory;
  kernel.heads /= ranks;
  kernel.kv_heads = std::max<std::int64_t>(1, attention.kv_heads / ranks);
  const Bytes queries =
      lowering.bytes(real(attention.heads) * real(attention.head_size) * real(attention.query.length));
  const Bytes inputs = queries + keys_and_values / real(ranks);
  const auto all_to_all = [](ExchangeMoment when, Bytes size) {
    return LayerExchange{.axis = SplitAxis::context, .what = LayerCollective::all_to_all, .when = when, .size = size};
  };
  draft.exchange_forward(all_to_all(ExchangeMoment::before, inputs));
  draft.exchange_forward(all_to_all(ExchangeMoment::after, queries));
  draft.exchange_backward(all_to_all(ExchangeMoment::before, queries));
  draft.exchange_backward(all_to_all(ExchangeMoment::after, inputs));
  return kernel;
}

/// Scale, mask, softmax and dropout of the scores, as kernels of their own.
void add_scores(Lowering& lowering, Draft& draft, const AttentionKernel& kernel, bool with_dropout) {
  const WrittenOut& scores = *lowering.written_out().scores;
  const double numbers = real(kernel.batch) * real(kernel.heads) * real(kernel.query_length) * real(kernel.key_length);
  const Bytes kept = draft.work.saved;
  draft.written_out(scores, numbers);
  const double wide = scores.forward_wide > 0 ? 2.0 : 0.0;  // it gets what softmax gives
  const WrittenOut one_kernel{.forward = 2.0, .backward = 2.0, .forward_wide = wide, .backward_wide = wide};
  if (with_dropout) draft.written_out(lowering.written_out().dropout.value_or(one_kernel), numbers);
  draft.work.saved_scores += draft.work.saved - kept;
}

}  // namespace

void add_attention(Lowering& lowering, Draft& draft, const AttentionSteps& attention) {
  const Shape& query = attention.query;
  const std::int64_t batch = lowering.options().batch;
  const bool fused = lowering.options().fused_attention;

  Projections projections(lowering, draft, attention);
  if (attention.latent) {
    projections.add(*attention.latent);
  } else {
    projections.add();
  }
  if (attention.relative_positions) projections.add_relative_positions();

  const WrittenOutOperators& written_out = lowering.written_out();
  AttentionKernel forward = attention_kernel(lowering, draft, attention);
  forward.scores_apart = written_out.scores && !fused;
  AttentionKernel backward = forward;
  backward.pass = Pass::backward_data;
  if (forward.scores_apart) {
    draft.step({forward}, {backward}, 2, 4);
    add_scores(lowering, draft, forward, attention.dropout);
  } else {
    // Plain: two batched products, scale and mask, softmax, dropout; all are in the kernel's time.
    const int operators = fused ? 1 : attention.dropout ? 5 : 4;
    draft.step({forward}, {backward}, operators, operators);
  }

  const double context = real(attention.heads) * real(attention.head_size) * real(query.length);
  const double scores = real(forward.heads) * real(forward.query_length) * real(forward.key_length);
  if (fused) {
    draft.save(real(attention.heads) * real(query.length) * lowering.batch() * Bytes(4));  // log of the softmax sums
  } else {
    draft.save_scores(lowering.bytes(scores));
    if (attention.dropout) {
      draft.save_scores(lowering.bytes(scores));
      if (!written_out.dropout) draft.save_scores(scores * lowering.batch() * Bytes(1));
    }
    const Bytes matrix = lowering.bytes(scores);
    draft.work.workspace = std::max(draft.work.workspace, matrix);
    if (written_out.heads) {
      draft.written_out(*written_out.heads, context * lowering.batch());
    } else {
      const Bytes merged = 2.0 * lowering.bytes(context);
      draft.stream(merged, merged);  // heads back into one row
    }
  }

  draft.save(lowering.bytes(context));
  draft.work.kept_by_alternate += lowering.bytes(context);
  const std::string out_name = std::string(attention.name_prefix) + "out";
  draft.product({.name = out_name,
                 .out = query.width,
                 .in = attention.heads * attention.head_size,
                 .rows = batch * query.length,
                 .bias = attention.bias,
                 .needs_gradient = true,
                 .split = lowering.options().tensor > 1});
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const AttentionLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  if (!layer.head_size && !heads_divide(lowering, spec, layer.heads, from)) return in;
  const std::int64_t head_size = layer.head_size.value_or(from.width / layer.heads);
  if (!lowering.is_reasonable(spec, sequence(from.length, layer.heads * head_size))) return std::nullopt;
  const std::int64_t ranks = lowering.options().tensor;
  const std::int64_t kv_heads = layer.kv_heads.value_or(layer.heads);
  if (!splits_evenly(lowering, spec, layer.heads, "heads", ranks)) return in;
  if (ranks % kv_heads != 0 && !splits_evenly(lowering, spec, kv_heads, "key and value heads", ranks)) return in;
  Draft draft(lowering, spec, in);
  draft.save(in);
  if (layer.cross) draft.save(*lowering.encoder);
  add_attention(lowering, draft,
                {.query = from,
                 .heads = layer.heads / ranks,
                 .kv_heads = std::max<std::int64_t>(1, kv_heads / ranks),
                 .head_size = head_size,
                 .causal = layer.causal,
                 .bias = layer.bias,
                 .rotary = layer.rotary,
                 .needs_gradient = lowering.needs_gradient(in),
                 .keys = layer.cross ? lowering.encoder : std::nullopt});
  add_tensor_exchanges(lowering, draft, lowering.bytes(number_count(from)));
  return draft.finish(from);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const AdditiveAttentionLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const ValueId encoder = *lowering.encoder;
  const Shape keys = lowering.shape(encoder);
  const Shape to = sequence(from.length, from.width + keys.width);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;
  const std::int64_t batch = lowering.options().batch;
  const bool fused = lowering.options().fused_attention;

  Draft draft(lowering, spec, in);
  draft.save(in);
  draft.save(encoder);
  draft.product({.name = "query",
                 .out = layer.width,
                 .in = from.width,
                 .rows = batch * from.length,
                 .bias = false,
                 .needs_gradient = lowering.needs_gradient(in)});
  draft.product({.name = "key",
                 .out = layer.width,
                 .in = keys.width,
                 .rows = batch * keys.length,
                 .bias = false,
                 .needs_gradient = lowering.needs_gradient(encoder)});
  draft.parameter("score", static_cast<double>(layer.width));

  // The sum of every query with every key is a tensor of its own unless one kernel does it all.
  const double pairs = real(from.length) * real(keys.length);
  const Bytes sums = lowering.bytes(pairs * real(layer.width));
  const Bytes scores = lowering.bytes(pairs);
  const Bytes projected = lowering.bytes(real(layer.width) * (real(from.length) + real(keys.length)));
  if (fused) {
    draft.step({StreamKernel{.moved = projected + scores}}, {StreamKernel{.moved = 2.0 * projected + scores}}, 1, 1);
    draft.save(projected);
  } else {
    draft.step({StreamKernel{.moved = projected + 4.0 * sums + scores, .kernels = 3}},
               {StreamKernel{.moved = projected + 6.0 * sums + scores, .kernels = 4}}, 3, 3);
    draft.save(sums);
    draft.work.workspace = sums;
  }
  draft.step({StreamKernel{.moved = 2.0 * scores}}, {StreamKernel{.moved = 3.0 * scores}}, 1, 1);  // softmax
  draft.save(scores);
  draft.step({GemmKernel{.m = keys.width, .n = from.length, .k = keys.length, .batch = batch}},
             {GemmKernel{.m = keys.length, .n = from.length, .k = keys.width, .batch = batch, .layout = kTransposedA},
              GemmKernel{.m = keys.width, .n = keys.length, .k = from.length, .batch = batch, .layout = kTransposedB}},
             1, 2);
  const Bytes joined = 2.0 * lowering.bytes(number_count(to));
  draft.stream(joined, joined);  // context beside the decoder's state
  return draft.finish(to);
}

}  // namespace gpuscale
