#include "memory/footprint.hpp"

#include <algorithm>
#include <cmath>

#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// Backward holds the error of a layer's output while it makes the error of its input.
Bytes largest_errors(const ModelWork& work) {
  Bytes largest;
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    const Bytes before = i > 0 ? work.layers[i - 1].output : Bytes();
    largest = std::max(largest, work.layers[i].output + before);
  }
  return largest;
}

}  // namespace

Bytes Footprint::total() const {
  return parameters + master_weights + gradients + optimizer + activations + errors + workspace + exchange + framework;
}

Footprint footprint(const ModelWork& work, const MemoryOptions& options) {
  const double parameters = parameter_count(work);
  const Bytes number = activation_size(options.precision);
  const bool master = has_master_weights(options.precision);
  Footprint result;
  result.parameters = number * parameters;
  result.master_weights = master && !options.optimizer_elsewhere ? Bytes(4) * parameters : Bytes();
  result.gradients = number * parameters;
  result.optimizer =
      options.optimizer_elsewhere ? Bytes() : state_size(options.optimizer, options.precision) * parameters;
  const Bytes inputs = work.input * static_cast<double>(work.batch) * (number / Bytes(4));
  result.activations = (saved_activations(work) + inputs) * options.passes;
  result.errors = largest_errors(work);
  result.workspace = largest_workspace(work);
  result.exchange = options.exchange_buffers;
  result.framework = options.framework;
  return result;
}

}  // namespace gpuscale
