#include "memory/footprint.hpp"

#include <algorithm>
#include <cmath>

#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// A run of layers that is gathered or computed again as a whole.
struct Unit {
  std::size_t first;
  std::size_t last;
};

std::vector<Unit> units_of(const HeldLayers& held, const std::vector<std::size_t>& starts) {
  std::vector<Unit> units;
  for (std::size_t layer = held.first; layer < held.last; ++layer) {
    const bool starts_one = units.empty() || std::ranges::binary_search(starts, layer);
    if (starts_one) units.push_back({layer, layer});
    units.back().last = layer + 1;
  }
  return units;
}

template <class Of>
auto sum_of(const ModelWork& work, const Unit& unit, Of of) {
  decltype(of(work.layers.front())) total{};
  for (std::size_t layer = unit.first; layer < unit.last; ++layer) total += of(work.layers[layer]);
  return total;
}

/// Backward holds the error of a layer's output while it makes the error of its input.
Bytes largest_errors(const ModelWork& work, const HeldLayers& held) {
  Bytes largest;
  for (std::size_t i = held.first; i < held.last; ++i) {
    const Bytes before = i > 0 ? work.layers[i - 1].output : Bytes();
    largest = std::max(largest, work.layers[i].output + before);
  }
  return largest;
}

Bytes saved(const LayerWork& layer) { return layer.saved; }

/// Kept of one pass over these layers, and what is alive once while a unit is computed again.
struct KeptBytes {
  Bytes each;
  Bytes once;
};

KeptBytes activations_of(const ModelWork& work, const HeldLayers& held, const MemoryOptions& options) {
  KeptBytes kept;
  for (const Unit& unit : units_of(held, options.units)) {
    const Bytes all = sum_of(work, unit, saved);
    const LayerWork& first = work.layers[unit.first];
    const bool again = options.kept == Kept::unit_inputs && first.boundary && *first.boundary < all;
    if (options.kept == Kept::all_but_scores) {
      kept.each += all - sum_of(work, unit, [](const LayerWork& layer) { return layer.saved_scores; });
    } else if (options.kept == Kept::half && starts_block(first)) {
      kept.each += std::max(all / 2.0, first.boundary.value_or(Bytes()));
    } else if (again) {
      kept.each += *first.boundary;
      kept.once = std::max(kept.once, all);
    } else {
      kept.each += all;
    }
  }
  return kept;
}

/// Parameters of the two largest neighbouring units: one computes while the next is gathered.
double gathered_parameters(const ModelWork& work, const HeldLayers& held, const MemoryOptions& options) {
  double largest = 0;
  double before = 0;
  for (const Unit& unit : units_of(held, options.units)) {
    const double now = sum_of(work, unit, [](const LayerWork& layer) { return parameter_count(layer); });
    largest = std::max(largest, before + now);
    before = now;
  }
  return largest;
}

}  // namespace

Bytes Footprint::total() const {
  return parameters + master_weights + gradients + optimizer + activations + errors + workspace + exchange + framework;
}

Footprint footprint(const ModelWork& work, const std::vector<HeldLayers>& held, const MemoryOptions& options) {
  const Bytes number = activation_size(options.precision);
  const bool master = has_master_weights(options.precision);
  Footprint result;
  double parameters = 0;
  double experts = 0;
  double gathered = 0;
  Bytes once;
  for (const HeldLayers& run : held) {
    for (std::size_t layer = run.first; layer < run.last; ++layer) {
      parameters += parameter_count(work.layers[layer]);
      experts += expert_count(work.layers[layer]);
      result.workspace = std::max(result.workspace, work.layers[layer].workspace);
    }
    const KeptBytes kept = activations_of(work, run, options);
    result.activations += kept.each * run.alive;
    once = std::max(once, kept.once);
    result.errors = std::max(result.errors, largest_errors(work, run));
    gathered = std::max(gathered, gathered_parameters(work, run, options));
    if (run.first == 0 && options.has_input) {
      result.activations += work.input * static_cast<double>(work.batch) * (number / Bytes(4)) * run.alive;
    }
  }
  result.workspace += once;
  const auto held_of = [&](double share) { return shared_out(parameters, experts, share, options.expert_ranks); };
  result.parameters = number * held_of(options.parameter_share);
  if (options.parameter_share < 1.0) result.parameters += number * gathered;
  const double of_optimizer = options.optimizer_elsewhere ? 0.0 : held_of(options.optimizer_share);
  result.master_weights = master ? Bytes(4) * of_optimizer : Bytes();
  result.gradients = (options.gradients_fp32 ? Bytes(4) : number) * held_of(options.gradient_share);
  result.optimizer = state_size(options.optimizer, options.precision) * of_optimizer;
  result.exchange = options.exchange_buffers;
  result.framework = options.framework;
  return result;
}

}  // namespace gpuscale
