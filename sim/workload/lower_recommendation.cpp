// What recommendation models have: tables of categories and products of their vectors.

#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const EmbeddingTablesLayer& layer, ValueId in) {
  const Shape from = lowering.shape(in);
  const auto tables = static_cast<std::int64_t>(layer.vocabularies.size());
  if (from.kind != ShapeKind::tokens || from.length != tables) {
    lowering.note(
        spec, fmt::format("needs one token for each of its {} tables, but its input is {}", tables, describe(from)));
    return std::nullopt;
  }
  const Shape to = sequence(tables, layer.width);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;
  Draft draft(lowering, spec, in);
  const bool sparse = lowering.options().sparse_embeddings;
  double numbers = 0.0;
  for (std::size_t index = 0; index < layer.vocabularies.size(); ++index) {
    const double table = real(layer.vocabularies[index]) * real(layer.width);
    const std::string name = fmt::format("table{}", index);
    if (sparse) {
      draft.sparse_parameter(name, table, real(layer.width) * lowering.batch());
    } else {
      draft.parameter(name, table);
    }
    numbers += table;
  }
  const Bytes rows = lowering.bytes(number_count(to));
  const Bytes zeroed = numbers * activation_size(lowering.options().precision);
  const std::int64_t launches = lowering.options().fused_elementwise ? 1 : tables;
  draft.step({StreamKernel{.moved = 2.0 * rows, .kernels = launches}},
             {StreamKernel{.moved = sparse ? 2.0 * rows : zeroed + 3.0 * rows, .kernels = launches}},
             static_cast<int>(launches), static_cast<int>(launches));
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ProductLayer&, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const Shape to = features(from.width);
  Draft draft(lowering, spec, in);
  const Bytes all = lowering.bytes(number_count(from));
  const Bytes one = lowering.bytes(number_count(to));
  draft.stream(all + one, 2.0 * all + one);
  draft.save(in);
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const InteractionLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const std::string name = lowering.new_name(spec);
  lowering.enter(name);
  lowering.open_bypass();
  const Lowered dense = lower_layers(lowering, layer.dense, in);
  lowering.close_bypass();
  lowering.leave();
  if (!dense) return std::nullopt;
  const Shape from = lowering.shape(in);
  if (lowering.shape(*dense) != features(from.width)) {
    lowering.note(spec, fmt::format("its vectors have {} numbers but 'dense' makes {}", from.width,
                                    describe(lowering.shape(*dense))));
    return std::nullopt;
  }
  const std::int64_t vectors = from.length + 1;
  const Shape to = features(from.width + vectors * (vectors - 1) / 2);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;

  Draft draft(lowering, name + ".dot", "interaction", spec.place, lowering.needs_gradient(in) ? in : *dense);
  draft.joins_ways();
  const Bytes joined = lowering.bytes(real(vectors) * real(from.width));
  draft.stream(2.0 * joined, 2.0 * joined);  // all vectors side by side
  draft.save(joined);
  const std::int64_t batch = lowering.options().batch;
  const GemmKernel dots{.m = vectors, .n = vectors, .k = from.width, .batch = batch, .layout = kTransposedA};
  const GemmKernel errors{.m = from.width, .n = vectors, .k = vectors, .batch = batch};
  draft.step({dots}, {errors, errors}, 1, 2);
  const Bytes out = 2.0 * lowering.bytes(number_count(to));
  draft.stream(out, out);  // one half of the products beside the dense vector
  return draft.finish(to);
}

}  // namespace gpuscale
