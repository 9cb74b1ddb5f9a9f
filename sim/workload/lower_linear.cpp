// Linear layers and the two embeddings: tables and matrices with one product at most.

#include <algorithm>
#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

/// The divisors of `units` next below and next above a degree that is none.
std::string nearest_degrees(std::int64_t units, std::int64_t degree) {
  std::int64_t below = 1;
  std::int64_t above = 0;
  const auto consider = [&](std::int64_t divisor) {
    if (divisor < degree) below = std::max(below, divisor);
    if (divisor > degree && (above == 0 || divisor < above)) above = divisor;
  };
  for (std::int64_t divisor = 1; divisor * divisor <= units; ++divisor) {
    if (units % divisor != 0) continue;
    consider(divisor);
    consider(units / divisor);
  }
  return above == 0 ? fmt::format("the nearest degree that does is {}", below)
                    : fmt::format("the nearest degrees that do are {} and {}", below, above);
}

/// Adds one of `count` learned vectors to each position.
ValueId add_vectors(Lowering& lowering, const LayerSpec& spec, std::int64_t count, ValueId in) {
  const Shape from = lowering.shape(in);
  Draft draft(lowering, spec, in);
  draft.parameter("weight", real(count) * real(from.width));
  const Bytes whole = lowering.bytes(number_count(from));
  draft.stream(lowering.options().fused_elementwise ? Bytes() : 2.0 * whole, whole);
  draft.work.in_place = true;
  return draft.finish(from);
}

}  // namespace

bool splits_evenly(Lowering& lowering, const LayerSpec& layer, std::int64_t units, std::string_view what) {
  const std::int64_t degree = lowering.options().model_split;
  if (units % degree == 0) return true;
  lowering.note(
      layer, fmt::format("{} {} do not split over {} GPUs; {}", units, what, degree, nearest_degrees(units, degree)));
  return false;
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const LinearLayer& layer, ValueId in) {
  Shape from = lowering.shape(in);
  if (from.kind == ShapeKind::image) {
    lowering.note(spec, fmt::format("its input is {}; put flatten or global_avg_pool before it", describe(from)));
    from = features(from.channels * from.height * from.width);
  }
  if (from.kind == ShapeKind::tokens) {
    lowering.note(spec, fmt::format("its input is {}; put an embedding before it", describe(from)));
    return std::nullopt;
  }
  const std::int64_t vocabulary = layer.rows_of.value_or(layer.out);
  if (layer.tied && !lowering.embeddings.contains({vocabulary, from.width})) {
    lowering.note(spec, fmt::format("tied to an embedding, but none before it has vocabulary {} and width {}",
                                    vocabulary, from.width));
  }
  const Shape to = from.kind == ShapeKind::sequence ? sequence(from.length, layer.out) : features(layer.out);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;

  Draft draft(lowering, spec, in);
  const std::int64_t degree = lowering.options().model_split;
  const bool split = degree > 1 && splits_evenly(lowering, spec, layer.out, "outputs");
  draft.product({.name = "",
                 .out = split ? layer.out / degree : layer.out,
                 .in = from.width,
                 .rows = lowering.options().batch * from.length,
                 .bias = layer.bias,
                 .needs_gradient = lowering.needs_gradient(in),
                 .own_weight = !layer.tied,
                 .split = split});
  draft.save(in);
  if (split) {
    const double errors = lowering.needs_gradient(in) ? number_count(from) : 0.0;
    draft.work.split =
        SplitExchange{.forward_gather = lowering.bytes(number_count(to)), .backward_reduce = lowering.bytes(errors)};
  }
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const EmbeddingLayer& layer, ValueId in) {
  const Shape from = lowering.shape(in);
  if (from.kind != ShapeKind::tokens) {
    lowering.note(spec, fmt::format("works on tokens, but its input is {}", describe(from)));
    return std::nullopt;
  }
  const Shape to = sequence(from.length, layer.width);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;
  const std::pair size{layer.vocabulary, layer.width};
  if (layer.tied && !lowering.embeddings.contains(size)) {
    lowering.note(spec, fmt::format("tied to an earlier embedding, but none has vocabulary {} and width {}",
                                    layer.vocabulary, layer.width));
  }
  lowering.embeddings.insert(size);

  Draft draft(lowering, spec, in);
  const double table = real(layer.vocabulary) * real(layer.width);
  const double touched = number_count(to) * lowering.batch();
  const bool sparse = lowering.options().sparse_embeddings && !lowering.embedding_is_tied();
  if (layer.tied) {
    draft.shares_parameters();
  } else if (sparse) {
    draft.sparse_parameter("weight", table, touched);
  } else {
    draft.parameter("weight", table);
  }
  const Bytes rows = lowering.bytes(number_count(to));
  const Bytes zeroed = layer.tied ? Bytes() : table * activation_size(lowering.options().precision);
  draft.stream(2.0 * rows, sparse ? 2.0 * rows : zeroed + 3.0 * rows);
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const SegmentEmbeddingLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  return add_vectors(lowering, spec, layer.segments, in);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const PositionEmbeddingLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  if (layer.positions < from.length) {
    lowering.note(spec,
                  fmt::format("{} positions are fewer than the sequence length {}", layer.positions, from.length));
  }
  return add_vectors(lowering, spec, layer.positions, in);
}

}  // namespace gpuscale
