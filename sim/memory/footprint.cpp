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
Bytes saved_scores(const LayerWork& layer) { return layer.saved_scores; }
Bytes kept_by_alternate(const LayerWork& layer) { return layer.kept_by_alternate; }
double parameters_of(const LayerWork& layer) { return parameter_count(layer); }

bool has_blocks(const ModelWork& work) { return std::ranges::any_of(work.layers, starts_block); }

/// Kept of one pass over these layers, what is alive once while a unit is computed again, and what layers between
/// full recompute's blocks and the loss keep beside their input.
struct KeptBytes {
  Bytes each;
  Bytes once;
  Bytes outside;
};

KeptBytes activations_of(const ModelWork& work, const HeldLayers& held, const MemoryOptions& options) {
  const bool only_blocks = has_blocks(work);
  KeptBytes kept;
  for (const Unit& unit : units_of(held, options.units)) {
    const LayerWork& first = work.layers[unit.first];
    const Bytes all = sum_of(work, unit, saved);
    Bytes now = all;
    if (options.kept == Kept::all_but_scores) now = all - sum_of(work, unit, saved_scores);
    if (options.kept == Kept::unit_inputs && first.boundary) now = *first.boundary;
    if (options.kept == Kept::every_second_product && starts_block(first) && first.boundary)
      now = *first.boundary + sum_of(work, unit, kept_by_alternate);
    kept.each += std::min(now, all);
    if (now >= all || options.kept == Kept::all_but_scores) continue;
    if (only_blocks && !starts_block(first)) {
      kept.outside += all - now;
    } else {
      kept.once = std::max(kept.once, all);
    }
  }
  return kept;
}

/// Parameters in memory while those of a unit are used: of the two largest neighbouring units, since one computes
/// while the next is gathered, and of all that is in no block, which stays from its first use to its last.
struct GatheredParameters {
  double used = 0;
  double arriving = 0;  ///< of the largest gather
};

GatheredParameters gathered_parameters(const ModelWork& work, const HeldLayers& held, const MemoryOptions& options) {
  const bool only_blocks = has_blocks(work);
  GatheredParameters gathered;
  double outside = 0;
  double before = 0;
  for (const Unit& unit : units_of(held, options.units)) {
    const double now = sum_of(work, unit, parameters_of);
    if (only_blocks && !starts_block(work.layers[unit.first])) {
      outside += now;
      continue;
    }
    gathered.used = std::max(gathered.used, before + now);
    before = now;
  }
  gathered.arriving = std::max(outside, gathered.used);
  gathered.used += outside;
  return gathered;
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
  GatheredParameters gathered;
  Bytes once;
  Bytes outside;
  for (const HeldLayers& run : held) {
    for (std::size_t layer = run.first; layer < run.last; ++layer) {
      parameters += parameter_count(work.layers[layer]);
      experts += expert_count(work.layers[layer]);
      result.workspace = std::max(result.workspace, work.layers[layer].workspace);
      if (!options.scratch.empty()) result.workspace = std::max(result.workspace, options.scratch[layer]);
    }
    const KeptBytes kept = activations_of(work, run, options);
    result.activations += kept.each * run.alive;
    once = std::max(once, kept.once);
    outside += kept.outside * run.alive;
    result.errors = std::max(result.errors, largest_errors(work, run));
    const GatheredParameters of_run = gathered_parameters(work, run, options);
    gathered.used = std::max(gathered.used, of_run.used);
    gathered.arriving = std::max(gathered.arriving, of_run.arriving);
    if (run.first == 0 && options.has_input) {
      result.activations += work.input * static_cast<double>(work.batch) * (number / Bytes(4)) * run.alive;
    }
  }
  result.workspace += once + outside;
  result.activations += options.returned_scores;
  const auto held_of = [&](double share) { return shared_out(parameters, experts, share, options.expert_ranks); };
  result.parameters = number * held_of(options.parameter_share);
  if (options.parameter_share < 1.0) {
    result.parameters += number * gathered.used;
    if (options.copies_gathered) result.exchange += number * gathered.arriving;
  }
  const double of_optimizer = options.optimizer_elsewhere ? 0.0 : held_of(options.optimizer_share);
  result.master_weights = master ? Bytes(4) * of_optimizer : Bytes();
  result.gradients = (options.gradients_fp32 ? Bytes(4) : number) * held_of(options.gradient_share);
  result.optimizer = state_size(options.optimizer, options.precision) * of_optimizer;
  result.exchange += options.exchange_buffers;
  result.framework = options.framework;
  return result;
}

}  // namespace gpuscale
