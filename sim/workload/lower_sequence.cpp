// Layers that move vectors of a sequence without a product: pick, add, join, reshape, remember.

#include <cmath>
#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

/// The same numbers in another order: read and written once each way.
ValueId reordered(Lowering& lowering, const LayerSpec& spec, ValueId in, const Shape& to) {
  Draft draft(lowering, spec, in);
  const Bytes moved = 2.0 * lowering.bytes(number_count(to));
  draft.stream(moved, moved);
  return draft.finish(to);
}

}  // namespace

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ToSequenceLayer& layer, ValueId in) {
  if (!is_image(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const Shape to = layer.position == SequencePosition::pixel ? sequence(from.height * from.width, from.channels)
                                                             : sequence(from.width, from.channels * from.height);
  if (to.length > kLargestSize) {
    lowering.note(spec, fmt::format("makes {} positions, more than 2^30; check the sizes", to.length));
    return std::nullopt;
  }
  return reordered(lowering, spec, in, to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ToImageLayer&, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  return reordered(lowering, spec, in, image(from.width, 1, from.length));
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const FirstTokenLayer&, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  Draft draft(lowering, spec, in);
  const Bytes row = lowering.bytes(static_cast<double>(from.width));
  draft.stream(2.0 * row, row + lowering.bytes(number_count(from)));
  return draft.finish(features(from.width));
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GatherTokensLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  // A share such as 0.15 is no exact binary number: 0.15 of 20 must not become 4.
  const double kept = std::ceil(layer.share * static_cast<double>(from.length) - 1e-9);
  const Shape to = sequence(std::max<std::int64_t>(1, static_cast<std::int64_t>(kept)), from.width);
  Draft draft(lowering, spec, in);
  const Bytes rows = lowering.bytes(number_count(to));
  draft.stream(2.0 * rows, rows + lowering.bytes(number_count(from)));
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ClassTokenLayer&, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const Shape to = sequence(from.length + 1, from.width);
  Draft draft(lowering, spec, in);
  draft.parameter("weight", static_cast<double>(from.width));
  const Bytes copied = 2.0 * lowering.bytes(number_count(to));
  draft.stream(copied, copied);
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ContextLayer&, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const Shape to = sequence(from.length, from.width + lowering.shape(*lowering.encoder).width);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;
  return reordered(lowering, spec, in, to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec&, const OtherInputLayer& layer, ValueId) {
  const ValueId input = lowering.add_value(layer.shape, false);
  lowering.mark_saved(input);  // in memory for the whole step, as the first input is
  lowering.work.input += number_count(layer.shape) * storage_size(Precision::fp32);
  return input;
}

Lowered lower_layer(Lowering& lowering, const LayerSpec&, const RememberLayer& layer, ValueId in) {
  lowering.remembered.insert_or_assign(layer.as, in);
  return in;
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const RecallLayer& layer, ValueId) {
  const auto found = lowering.remembered.find(layer.what);
  if (found == lowering.remembered.end()) {
    lowering.note(spec, fmt::format("nothing before it is remembered as '{}'", layer.what));
    return std::nullopt;
  }
  const Shape shape = lowering.shape(found->second);
  Draft draft(lowering, spec, found->second);
  // One more reader, whose errors are added to those of the others.
  const double passes = lowering.options().fused_elementwise ? 1.0 : 3.0;
  draft.stream(Bytes(), passes * lowering.bytes(number_count(shape)));
  return draft.finish_view(shape);
}

}  // namespace gpuscale
