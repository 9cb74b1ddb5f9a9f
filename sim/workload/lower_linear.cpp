// Linear layers and the two embeddings: tables and matrices with one product at most.

#include <algorithm>
#include <fmt/format.h>

#include "units/divisors.hpp"
#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

std::string nearest_degrees(std::int64_t units, std::int64_t degree) {
  const auto [below, above] = nearest_divisors(units, degree);
  return above ? fmt::format("the nearest degrees that do are {} and {}", below, *above)
               : fmt::format("the nearest degree that does is {}", below);
}

/// Rows of a vocabulary on one tensor rank: padded so that each has the same, a multiple of 128, as Megatron-LM does.
std::int64_t vocabulary_part(const Lowering& lowering, std::int64_t vocabulary) {
  constexpr std::int64_t kMultiple = 128;
  const std::int64_t ranks = lowering.options().tensor;
  if (ranks == 1) return vocabulary;
  const std::int64_t whole = ranks * kMultiple;
  return (vocabulary + whole - 1) / whole * kMultiple;
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

bool splits_evenly(Lowering& lowering, const LayerSpec& layer, std::int64_t units, std::string_view what,
                   std::int64_t degree) {
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
  const Shape to = from.kind == ShapeKind::sequence ? sequence(from.length, layer.out) : features(layer.out);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;

  Draft draft(lowering, spec, in);
  if (layer.tied && !draft.use_table(vocabulary, from.width)) {
    lowering.note(spec, fmt::format("tied to an embedding, but none before it has vocabulary {} and width {}",
                                    vocabulary, from.width));
  }
  const bool in_vocabulary = lowering.options().tensor > 1 && lowering.loss_is_next && from.kind == ShapeKind::sequence;
  const std::int64_t degree = lowering.column_degree();
  const bool divides = lowering.options().tensor > 1  // a narrow head is left whole on every tensor rank
                           ? layer.out % degree == 0
                           : splits_evenly(lowering, spec, layer.out, "outputs", degree);
  const bool split = !in_vocabulary && degree > 1 && divides;
  const std::int64_t columns = in_vocabulary ? vocabulary_part(lowering, layer.out)
                               : split       ? layer.out / degree
                                             : layer.out;
  draft.product({.name = "",
                 .out = columns,
                 .in = from.width,
                 .rows = lowering.options().batch * from.length,
                 .bias = layer.bias,
                 .needs_gradient = lowering.needs_gradient(in),
                 .own_weight = !layer.tied,
                 .split = split || in_vocabulary});
  draft.save(in);
  const Bytes errors = lowering.needs_gradient(in) ? lowering.bytes(number_count(from)) : Bytes();
  if (in_vocabulary) {
    // The scores stay where they are: the loss works on its part of the vocabulary.
    const bool by_positions = lowering.options().sequence_parallel;
    if (by_positions) {
      draft.exchange_forward({.what = LayerCollective::all_gather,
                              .when = ExchangeMoment::before,
                              .size = lowering.bytes(number_count(from))});
      if (lowering.options().dtensor) draft.save_gathered(lowering.bytes(number_count(from)));
    }
    draft.exchange_backward({.what = by_positions ? LayerCollective::reduce_scatter : LayerCollective::all_reduce,
                             .when = ExchangeMoment::after,
                             .size = errors});
    return draft.finish(sequence(to.length, columns));
  }
  if (split) {
    draft.exchange_forward({.what = LayerCollective::all_gather, .size = lowering.bytes(number_count(to))});
    draft.exchange_backward({.what = LayerCollective::reduce_scatter, .size = errors});
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
  Draft draft(lowering, spec, in);
  const bool shares_table = layer.tied && draft.use_table(layer.vocabulary, layer.width);
  if (layer.tied && !shares_table) {
    lowering.note(spec, fmt::format("tied to an earlier embedding, but none has vocabulary {} and width {}",
                                    layer.vocabulary, layer.width));
  }
  if (!shares_table) lowering.embeddings.insert_or_assign({layer.vocabulary, layer.width}, lowering.work.layers.size());
  const std::int64_t rows_here = vocabulary_part(lowering, layer.vocabulary);
  const bool divided = rows_here < layer.vocabulary;
  const double table = real(rows_here) * real(layer.width);
  const double touched = number_count(to) * lowering.batch();
  const bool sparse = lowering.options().sparse_embeddings && !lowering.embedding_is_tied();
  if (layer.tied) {
    draft.shares_parameters();
  } else if (sparse) {
    draft.sparse_parameter("weight", table, touched);
  } else {
    draft.parameter("weight", table, divided);
  }
  if (divided) {
    const bool by_positions = lowering.options().sequence_parallel;
    const Bytes whole = lowering.bytes(number_count(to));
    draft.exchange_forward({.what = by_positions ? LayerCollective::reduce_scatter : LayerCollective::all_reduce,
                            .when = ExchangeMoment::after,
                            .size = whole});
    if (by_positions) {
      draft.exchange_backward({.what = LayerCollective::all_gather, .when = ExchangeMoment::before, .size = whole});
    }
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
