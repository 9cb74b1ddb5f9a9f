// Recurrent layers: one LayerWork for each of `layers`, as cuDNN runs them.

#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

/// Numbers kept per unit and step besides the output: the gates, and the cell (lstm) or the recurrent
/// part of the candidate (gru). A plain cell needs its output only.
double reserve_per_unit(RecurrentCell cell) {
  return cell == RecurrentCell::rnn ? 0.0 : static_cast<double>(gates(cell) + 1);
}

ValueId lower_one(Lowering& lowering, const LayerSpec& spec, const RecurrentLayer& layer, bool split,
                  const std::string& name, ValueId in) {
  const Shape from = lowering.shape(in);
  const std::int64_t directions = layer.bidirectional ? 2 : 1;
  const std::int64_t degree = split ? lowering.column_degree() : 1;
  const std::int64_t units = layer.hidden / degree;
  const bool needs_gradient = lowering.needs_gradient(in);
  const Shape to = sequence(from.length, layer.hidden * directions);

  // A split layer multiplies the whole input and the whole previous output with its part of the units:
  // what belongs to other ranks' units enters like input.
  const std::int64_t foreign = layer.hidden - units;
  RecurrentKernel kernel{.cell = layer.cell,
                         .batch = lowering.options().batch,
                         .input = from.width + foreign,
                         .hidden = units,
                         .steps = from.length,
                         .persistent = layer.persistent};
  Draft draft(lowering, name, kind_name(spec.layer), spec.place, in);
  std::vector<Kernel> forward(static_cast<std::size_t>(directions), kernel);
  std::vector<Kernel> backward;
  RecurrentKernel data = kernel;
  data.pass = Pass::backward_data;
  if (!needs_gradient) data.input = foreign;  // errors still travel through time
  RecurrentKernel weights = kernel;
  weights.pass = Pass::backward_weights;
  backward.insert(backward.end(), static_cast<std::size_t>(directions), data);
  backward.insert(backward.end(), static_cast<std::size_t>(directions), weights);
  draft.step(std::move(forward), std::move(backward), 1, 1);

  const double gate_rows = static_cast<double>(gates(layer.cell)) * static_cast<double>(units);
  for (std::int64_t direction = 0; direction < directions; ++direction) {
    const std::string suffix = direction == 0 ? "" : "_reverse";
    const auto rows = static_cast<std::int64_t>(gate_rows);
    draft.matrix("weight_input" + suffix, gate_rows * static_cast<double>(from.width), rows, split);
    draft.matrix("weight_hidden" + suffix, gate_rows * static_cast<double>(layer.hidden), rows, split);
    if (layer.biases > 0) draft.parameter("bias" + suffix, gate_rows * static_cast<double>(layer.biases), split);
  }

  const double unit_steps = static_cast<double>(units * directions) * static_cast<double>(from.length);
  draft.save(in);
  draft.save(lowering.bytes(unit_steps * reserve_per_unit(layer.cell)));
  draft.work.workspace = lowering.bytes(gate_rows * static_cast<double>(from.length));
  if (split) {
    const Bytes outputs = lowering.bytes(number_count(to));
    const Bytes errors = needs_gradient ? lowering.bytes(number_count(from)) : Bytes();
    draft.exchange_forward({.what = LayerCollective::all_gather, .size = outputs, .rounds = from.length});
    draft.exchange_backward({.what = LayerCollective::reduce_scatter, .size = outputs + errors, .rounds = from.length});
  }
  return draft.finish_saving_output(to);
}

}  // namespace

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const RecurrentLayer& layer, ValueId in) {
  if (!is_sequence(lowering, spec, in)) return std::nullopt;
  const std::int64_t degree = lowering.column_degree();
  const bool split = degree > 1 && splits_evenly(lowering, spec, layer.hidden, "hidden units", degree);
  const std::string name = lowering.new_name(spec);
  for (std::int64_t index = 0; index < layer.layers; ++index) {
    if (index > 0 && !lowering.count_layer(spec)) return std::nullopt;
    if (!lowering.is_reasonable(spec, sequence(lowering.shape(in).length, 2 * layer.hidden))) return std::nullopt;
    in = lower_one(lowering, spec, layer, split, layer.layers == 1 ? name : fmt::format("{}.{}", name, index), in);
  }
  return in;
}

}  // namespace gpuscale
