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

void add_attention(Lowering& lowering, Draft& draft, const AttentionSteps& attention) {
  const Shape& query = attention.query;
  const Shape keys = attention.keys ? lowering.shape(*attention.keys) : query;
  const std::int64_t batch = lowering.options().batch;
  const std::int64_t head_size = query.width / attention.heads;
  const std::int64_t key_width = head_size * attention.kv_heads;
  const bool fused = lowering.options().fused_attention;
  const auto named = [&](std::string_view name) { return std::string(attention.name_prefix) + std::string(name); };

  Draft::Product projection{.name = "",
                            .out = query.width,
                            .in = query.width,
                            .rows = batch * query.length,
                            .bias = attention.bias,
                            .needs_gradient = attention.needs_gradient};
  const std::string query_name = named("query");
  const std::string keys_name = named("key_value");
  const std::string all_name = named("qkv");
  const std::string out_name = named("out");
  if (!attention.keys && attention.kv_heads == attention.heads) {
    Draft::Product all = projection;
    all.name = all_name;
    all.out = 3 * query.width;
    draft.product(all);
  } else {
    Draft::Product one = projection;
    one.name = query_name;
    draft.product(one);
    one.name = keys_name;
    one.in = keys.width;
    one.out = 2 * key_width;
    one.rows = batch * keys.length;
    if (attention.keys) one.needs_gradient = lowering.needs_gradient(*attention.keys);
    draft.product(one);
  }
  draft.save(lowering.bytes(number_count(query) + 2.0 * real(key_width) * real(keys.length)));

  AttentionKernel kernel{.batch = batch,
                         .query_length = query.length,
                         .key_length = keys.length,
                         .heads = attention.heads,
                         .kv_heads = attention.kv_heads,
                         .head_size = head_size,
                         .causal = attention.causal && !attention.keys,
                         .fused = fused};
  const AttentionKernel forward = kernel;
  kernel.pass = Pass::backward_data;
  // Plain: two batched products, scale and mask, softmax, dropout; all are in the kernel's time.
  const int operators = fused ? 1 : attention.dropout ? 5 : 4;
  draft.step({forward}, {kernel}, operators, operators);

  const double scores = real(attention.heads) * real(query.length) * real(keys.length);
  if (fused) {
    draft.save(real(attention.heads) * real(query.length) * lowering.batch() * Bytes(4));  // log of the softmax sums
  } else {
    draft.save(lowering.bytes(scores));
    if (attention.dropout) draft.save(lowering.bytes(scores) + scores * lowering.batch() * Bytes(1));
    const Bytes matrix = lowering.bytes(scores);
    draft.work.workspace = std::max(draft.work.workspace, matrix);
    const Bytes merged = 2.0 * lowering.bytes(number_count(query));
    draft.stream(merged, merged);  // heads back into one row
  }

  draft.save(lowering.bytes(number_count(query)));
  projection.name = out_name;
  projection.needs_gradient = true;
  draft.product(projection);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const AttentionLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  if (!heads_divide(lowering, spec, layer.heads, from)) return in;
  Draft draft(lowering, spec, in);
  draft.save(in);
  if (layer.cross) draft.save(*lowering.encoder);
  add_attention(lowering, draft,
                {.query = from,
                 .heads = layer.heads,
                 .kv_heads = layer.kv_heads.value_or(layer.heads),
                 .causal = layer.causal,
                 .bias = layer.bias,
                 .needs_gradient = lowering.needs_gradient(in),
                 .keys = layer.cross ? lowering.encoder : std::nullopt});
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
             {GemmKernel{.m = keys.length, .n = from.length, .k = keys.width, .batch = batch},
              GemmKernel{.m = keys.width, .n = keys.length, .k = from.length, .batch = batch}},
             1, 2);
  const Bytes joined = 2.0 * lowering.bytes(number_count(to));
  draft.stream(joined, joined);  // context beside the decoder's state
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const FirstTokenLayer&, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  Draft draft(lowering, spec, in);
  const Bytes row = lowering.bytes(real(from.width));
  draft.stream(2.0 * row, row + lowering.bytes(number_count(from)));
  return draft.finish(features(from.width));
}

}  // namespace gpuscale
