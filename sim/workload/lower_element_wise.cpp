// Normalisation, activations, dropout, the loss: layers bound by memory.

#include <algorithm>
#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

bool has_vectors(Lowering& lowering, const LayerSpec& spec, ValueId in) {
  const Shape& shape = lowering.shape(in);
  if (shape.kind == ShapeKind::features || shape.kind == ShapeKind::sequence) return true;
  const bool is_image = shape.kind == ShapeKind::image;
  lowering.note(spec, fmt::format("its input is {}; put {} before it", describe(shape),
                                  is_image ? "flatten or global_avg_pool" : "an embedding"));
  return false;
}

bool has_numbers(Lowering& lowering, const LayerSpec& spec, ValueId in) {
  const Shape& shape = lowering.shape(in);
  if (shape.kind != ShapeKind::tokens) return true;
  lowering.note(spec, fmt::format("its input is {}; put an embedding before it", describe(shape)));
  return false;
}

Lowered lower_batch_norm(Lowering& lowering, const LayerSpec& spec, ValueId in) {
  const Shape from = lowering.shape(in);
  if (from.kind == ShapeKind::tokens) {
    lowering.note(spec, fmt::format("its input is {}; put an embedding before it", describe(from)));
    return std::nullopt;
  }
  const double channels = static_cast<double>(from.kind == ShapeKind::image ? from.channels : from.width);
  Draft draft(lowering, spec, in);
  draft.parameter("weight", channels);
  draft.parameter("bias", channels);
  if (const std::optional<WrittenOut>& form = lowering.written_out().batch_norm) {
    draft.written_out(*form, number_count(from) * lowering.batch());
  } else {
    // One kernel reads the input twice and writes the output; backward it reads input and errors twice, writes errors.
    const Bytes tensor = lowering.bytes(number_count(from));
    draft.stream(3.0 * tensor, 5.0 * tensor);
  }
  draft.save(in);
  draft.save(2.0 * channels * Bytes(4));  // mean and deviation of the batch
  return draft.finish(from);
}

Lowered lower_local_response_norm(Lowering& lowering, const LayerSpec& spec, ValueId in) {
  const Shape from = lowering.shape(in);
  if (from.kind != ShapeKind::image) {
    lowering.note(spec, fmt::format("works on an image, but its input is {}", describe(from)));
    return std::nullopt;
  }
  Draft draft(lowering, spec, in);
  const Bytes tensor = lowering.bytes(number_count(from));
  draft.stream(2.0 * tensor, 4.0 * tensor);
  draft.save(in);
  return draft.finish_saving_output(from);
}

/// layer_norm, and rms_norm, which is not centred.
Lowered lower_row_norm(Lowering& lowering, const LayerSpec& spec, bool centred, ValueId in) {
  if (!has_vectors(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  Draft draft(lowering, spec, in);
  draft.parameter("weight", static_cast<double>(from.width));
  if (centred) draft.parameter("bias", static_cast<double>(from.width));
  const WrittenOutOperators& written_out = lowering.written_out();
  if (const std::optional<WrittenOut>& form = centred ? written_out.layer_norm : written_out.rms_norm) {
    draft.written_out(*form, number_count(from) * lowering.batch());
  } else {
    const Bytes tensor = lowering.bytes(number_count(from));
    draft.stream(2.0 * tensor, 5.0 * tensor);
  }
  draft.save(in);
  // Mean and deviation of each row, or its root mean square.
  draft.save(static_cast<double>(from.length) * lowering.batch() * Bytes(centred ? 8 : 4));
  return draft.finish(from);
}

std::optional<WrittenOut> written_out(const Lowering& lowering, ActivationKind kind) {
  const WrittenOutOperators& operators = lowering.written_out();
  if (kind == ActivationKind::gelu) return operators.gelu;
  if (kind == ActivationKind::gelu_tanh) return operators.gelu_tanh;
  if (kind == ActivationKind::silu) return operators.silu;
  return std::nullopt;
}

bool needs_its_input(ActivationKind kind) {
  return kind == ActivationKind::gelu || kind == ActivationKind::gelu_tanh || kind == ActivationKind::silu;
}

}  // namespace

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const NormLayer& layer, ValueId in) {
  switch (layer.kind) {
    case NormKind::batch_norm:
      return lower_batch_norm(lowering, spec, in);
    case NormKind::local_response_norm:
      return lower_local_response_norm(lowering, spec, in);
    case NormKind::layer_norm:
      return lower_row_norm(lowering, spec, true, in);
    case NormKind::rms_norm:
      return lower_row_norm(lowering, spec, false, in);
  }
  return std::nullopt;
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ActivationLayer& layer, ValueId in) {
  if (!has_numbers(lowering, spec, in)) return std::nullopt;
  const Shape shape = lowering.shape(in);
  Draft draft(lowering, spec, in);
  if (const std::optional<WrittenOut> form = written_out(lowering, layer.kind)) {
    draft.written_out(*form, number_count(shape) * lowering.batch());
  } else if (!lowering.options().fused_elementwise) {
    const Bytes tensor = lowering.bytes(number_count(shape));
    draft.stream(2.0 * tensor, 3.0 * tensor);
  }
  if (needs_its_input(layer.kind)) {  // their derivatives need the input
    draft.save(in);
    return draft.finish(shape);
  }
  draft.work.in_place = layer.kind == ActivationKind::relu && !lowering.saved(in);
  return draft.finish_saving_output(shape);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GatedTanhLayer&, ValueId in) {
  if (!is_image(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  if (from.channels % 2 != 0) {
    lowering.note(spec, fmt::format("needs two halves, but its input has {} channels", from.channels));
    return std::nullopt;
  }
  const Shape to = image(from.channels / 2, from.height, from.width);
  Draft draft(lowering, spec, in);
  const Bytes half = lowering.bytes(number_count(to));
  if (!lowering.options().fused_elementwise) draft.stream(3.0 * half, 5.0 * half);
  draft.save(in);
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const DropoutLayer&, ValueId in) {
  if (!has_numbers(lowering, spec, in)) return std::nullopt;
  const Shape shape = lowering.shape(in);
  Draft draft(lowering, spec, in);
  const Bytes tensor = lowering.flowing(shape);
  if (const std::optional<WrittenOut>& form = lowering.written_out().dropout) {
    draft.written_out(*form, tensor / activation_size(lowering.options().precision));
    return draft.finish(shape);
  }
  const Bytes mask = tensor / activation_size(lowering.options().precision) * Bytes(1);
  if (!lowering.options().fused_elementwise) {
    const Bytes moved = 2.0 * tensor + mask;
    draft.stream(moved, moved);
  }
  draft.save(mask);
  return draft.finish(shape);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const SoftmaxLossLayer&, ValueId in) {
  if (!has_vectors(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  Draft draft(lowering, spec, in);
  const Bytes scores = lowering.bytes(number_count(from));
  // The probabilities are at least fp32: mixed precision computes its loss in fp32.
  const Bytes probabilities = std::max(scores, number_count(from) * lowering.batch() * Bytes(4));
  draft.step({StreamKernel{.moved = scores + probabilities, .kernels = 2}},
             {StreamKernel{.moved = scores + probabilities, .kernels = 2}}, 2, 2);
  draft.save(probabilities);
  const bool divided = from.kind == ShapeKind::sequence && lowering.options().tensor > 1;
  if (lowering.options().wide_loss && scores < probabilities) {
    draft.stream(scores + probabilities, scores + probabilities);
    draft.save(probabilities);                                                         // the copy
    draft.work.workspace += probabilities;                                             // its errors
    if (divided && lowering.options().dtensor) draft.work.workspace += probabilities;  // and what they are summed of
  }
  if (divided) {
    // Over a divided vocabulary: the largest score, the wanted one and the sum of all, a number a position each.
    constexpr double kSums = 3;
    draft.exchange_forward({.what = LayerCollective::all_reduce,
                            .when = ExchangeMoment::after,
                            .size = kSums * static_cast<double>(from.length) * lowering.batch() * Bytes(4),
                            .rounds = static_cast<std::int64_t>(kSums)});
  }
  lowering.has_loss = true;
  return draft.finish(features(1));
}

}  // namespace gpuscale
