// Lists of layers and the kinds that hold lists.

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

/// The errors of a tensor with `readers` readers are summed: two read and one written per further one.
Bytes fork_traffic(const Lowering& lowering, ValueId forked, std::size_t readers) {
  if (!lowering.needs_gradient(forked) || readers < 2) return Bytes();
  const double passes = lowering.options().fused_elementwise ? 1.0 : 3.0;
  return passes * static_cast<double>(readers - 1) * lowering.bytes(number_count(lowering.shape(forked)));
}

/// Whether two outputs can be concatenated: images over channels, vectors over their numbers.
bool can_stand_beside(const Shape& one, const Shape& other) {
  if (one.kind != other.kind || one.kind == ShapeKind::tokens) return false;
  if (one.kind == ShapeKind::image) return one.height == other.height && one.width == other.width;
  return one.length == other.length;
}

/// Times that were measured come before those of the kernels of the one layer that the entry became.
void take_measured_time(Lowering& lowering, const LayerSpec& spec, std::size_t before) {
  if (spec.measured.empty()) return;
  if (lowering.work.layers.size() != before + 1) {
    lowering.note(spec, fmt::format("'measured' is of one layer, and this is {}; write it on the layers inside",
                                    lowering.work.layers.size() - before));
    return;
  }
  LayerWork& layer = lowering.work.layers.back();
  const bool split = std::ranges::any_of(layer.parameters, &ParameterTensor::split);
  layer.measured = measured_at(spec.measured, lowering.options().batch, split ? lowering.column_degree() : 1);
}

class Scoped {
 public:
  Scoped(Lowering& lowering, const std::string& scope) : lowering_(lowering) { lowering_.enter(scope); }
  ~Scoped() { lowering_.leave(); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  Lowering& lowering_;
};

Lowered lower_scoped(Lowering& lowering, const std::vector<LayerSpec>& layers, const std::string& scope, ValueId in) {
  const Scoped scoped(lowering, scope);
  return lower_layers(lowering, layers, in);
}

/// The same for one of several ways from a tensor: while in it, others go by.
Lowered lower_beside(Lowering& lowering, const std::vector<LayerSpec>& layers, const std::string& scope, ValueId in) {
  lowering.open_bypass();
  const Lowered out = lower_scoped(lowering, layers, scope, in);
  lowering.close_bypass();
  return out;
}

}  // namespace

Lowered lower_layers(Lowering& lowering, const std::vector<LayerSpec>& layers, ValueId in) {
  for (std::size_t index = 0; index < layers.size(); ++index) {
    const LayerSpec& spec = layers[index];
    lowering.loss_is_next =
        index + 1 < layers.size() && std::holds_alternative<SoftmaxLossLayer>(layers[index + 1].layer);
    if (!lowering.count_layer(spec) || lowering.stopped() || lowering.is_unusable(spec)) return std::nullopt;
    if (lowering.has_loss) {
      lowering.note(spec, "stands after softmax_loss, which ends the model");
      return std::nullopt;
    }
    const std::size_t before = lowering.work.layers.size();
    const Lowered out =
        std::visit([&](const auto& layer) { return lower_layer(lowering, spec, layer, in); }, spec.layer);
    if (!out) return std::nullopt;
    take_measured_time(lowering, spec, before);
    in = *out;
  }
  return in;
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ResidualLayer& layer, ValueId in) {
  const std::string name = lowering.new_name(spec);
  const Lowered body = lower_beside(lowering, layer.body, name, in);
  const Lowered shortcut =
      layer.shortcut.empty() ? Lowered(in) : lower_beside(lowering, layer.shortcut, name + ".shortcut", in);
  if (!body || !shortcut) return std::nullopt;
  const Shape sum = lowering.shape(*body);
  if (sum != lowering.shape(*shortcut)) {
    lowering.note(
        spec, fmt::format("its body makes {} but its shortcut {}", describe(sum), describe(lowering.shape(*shortcut))));
    return std::nullopt;
  }
  const ValueId trained = lowering.needs_gradient(*body) ? *body : *shortcut;
  Draft draft(lowering, name + ".add", "add", spec.place, trained);
  draft.joins_ways();
  // Fused, the sum is one more operand of a neighbour's kernel: bytes, but no launch of its own.
  const bool fused = lowering.options().fused_elementwise;
  const int launches = fused ? 0 : 1;
  const Bytes errors = fork_traffic(lowering, in, 2);
  std::vector<Kernel> backward;
  if (errors > Bytes()) backward.emplace_back(StreamKernel{.moved = errors, .kernels = launches});
  const int backward_operators = backward.empty() ? 0 : launches;
  const Bytes moved = (fused ? 1.0 : 3.0) * lowering.bytes(number_count(sum));
  draft.step({StreamKernel{.moved = moved, .kernels = launches}}, std::move(backward), launches, backward_operators);
  draft.work.in_place = true;
  return draft.finish(sum);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GateLayer& layer, ValueId in) {
  const std::string name = lowering.new_name(spec);
  const Lowered gate = lower_beside(lowering, layer.body, name, in);
  if (!gate) return std::nullopt;
  const Shape from = lowering.shape(in);
  const Shape by = lowering.shape(*gate);
  if (by != from && !(from.kind == ShapeKind::image && by == features(from.channels))) {
    lowering.note(
        spec, fmt::format(
                  "its input is {} but its body makes {}; it must make the same{}", describe(from), describe(by),
                  from.kind == ShapeKind::image ? fmt::format(", or {} features, one a channel", from.channels) : ""));
    return std::nullopt;
  }
  Draft draft(lowering, name + ".multiply", "multiply", spec.place, lowering.needs_gradient(*gate) ? *gate : in);
  draft.joins_ways();
  const Bytes whole = lowering.bytes(number_count(from));
  const Bytes factors = lowering.bytes(number_count(by));
  // Backward: errors times factors, and errors times input summed over what shares a factor.
  draft.stream(2.0 * whole + factors, 4.0 * whole + 2.0 * factors);
  const Bytes errors = fork_traffic(lowering, in, 2);
  if (errors > Bytes()) {
    const int launches = lowering.options().fused_elementwise ? 0 : 1;
    draft.step({}, {StreamKernel{.moved = errors, .kernels = launches}}, 0, launches);
  }
  draft.save(in);
  draft.save(*gate);
  return draft.finish(from);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const HeadsLayer& layer, ValueId in) {
  const std::string name = lowering.new_name(spec);
  for (std::size_t index = 0; index < layer.heads.size(); ++index) {
    lowering.has_loss = false;
    const Lowered out = lower_beside(lowering, layer.heads[index], fmt::format("{}.{}", name, index), in);
    if (out && !lowering.has_loss && !lowering.stopped()) {
      lowering.note(spec,
                    fmt::format("head {} does not end with a loss; add softmax_loss as its last layer", index + 1));
    }
  }
  lowering.has_loss = true;
  const Bytes errors = fork_traffic(lowering, in, layer.heads.size());
  if (errors == Bytes()) return lowering.add_value(features(1), true);
  Draft draft(lowering, name + ".sum", "sum", spec.place, in);
  draft.joins_ways();
  const int launches = lowering.options().fused_elementwise ? 0 : static_cast<int>(layer.heads.size()) - 1;
  draft.step({}, {StreamKernel{.moved = errors, .kernels = launches}}, 0, launches);
  return draft.finish(features(1));
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const BranchesLayer& layer, ValueId in) {
  const std::string name = lowering.new_name(spec);
  std::vector<ValueId> outs;
  for (std::size_t index = 0; index < layer.branches.size(); ++index) {
    const Lowered out = lower_beside(lowering, layer.branches[index], fmt::format("{}.{}", name, index), in);
    if (out) outs.push_back(*out);
  }
  if (outs.size() != layer.branches.size()) return std::nullopt;

  Shape joined = lowering.shape(outs.front());
  ValueId trained = outs.front();
  const bool images = joined.kind == ShapeKind::image;
  std::int64_t& side = images ? joined.channels : joined.width;
  side = 0;
  for (std::size_t index = 0; index < outs.size(); ++index) {
    const Shape& shape = lowering.shape(outs[index]);
    if (!can_stand_beside(shape, joined)) {
      lowering.note(spec, fmt::format("branch 1 makes {} but branch {} {}; {}", describe(lowering.shape(outs.front())),
                                      index + 1, describe(shape),
                                      images ? "their images must be of one size"
                                             : "they must be all features, or sequences of one length"));
      return std::nullopt;
    }
    side += images ? shape.channels : shape.width;
    if (lowering.needs_gradient(outs[index])) trained = outs[index];
  }
  if (!lowering.is_reasonable(spec, joined)) return std::nullopt;
  Draft draft(lowering, name + ".concatenate", "concatenate", spec.place, trained);
  draft.joins_ways();
  const Bytes copied = 2.0 * lowering.bytes(number_count(joined));
  draft.stream(copied, copied);
  const Bytes errors = fork_traffic(lowering, in, outs.size());
  if (errors > Bytes()) {
    const int launches = lowering.options().fused_elementwise ? 0 : static_cast<int>(outs.size()) - 1;
    draft.step({}, {StreamKernel{.moved = errors, .kernels = launches}}, 0, launches);
  }
  return draft.finish(joined);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const RepeatLayer& layer, ValueId in) {
  const std::string name = lowering.new_name(spec);
  for (std::int64_t index = 0; index < layer.times; ++index) {
    const Lowered out = lower_scoped(lowering, layer.layers, fmt::format("{}.{}", name, index), in);
    if (!out) return std::nullopt;
    in = *out;
  }
  return in;
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GroupLayer& layer, ValueId in) {
  return lower_scoped(lowering, layer.layers, lowering.new_name(spec), in);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const EncoderDecoderLayer& layer, ValueId in) {
  const Shape from = lowering.shape(in);
  if (from.kind != ShapeKind::tokens) {
    lowering.note(spec, fmt::format("works on tokens, but its input is {}", describe(from)));
    return std::nullopt;
  }
  const std::string name = lowering.new_name(spec);
  const Lowered encoded = lower_scoped(lowering, layer.encoder, name + ".encoder", in);
  if (!encoded) return std::nullopt;
  if (lowering.shape(*encoded).kind != ShapeKind::sequence) {
    lowering.note(
        spec, fmt::format("its encoder makes {}; the decoder needs a sequence", describe(lowering.shape(*encoded))));
    return std::nullopt;
  }
  lowering.work.input += number_count(from) * storage_size(Precision::fp32);
  const ValueId target = lowering.add_value(from, false);
  lowering.mark_saved(target);
  const std::optional<ValueId> outer = std::exchange(lowering.encoder, encoded);
  const Lowered decoded = lower_scoped(lowering, layer.decoder, name + ".decoder", target);
  lowering.encoder = outer;
  return decoded;
}

}  // namespace gpuscale
