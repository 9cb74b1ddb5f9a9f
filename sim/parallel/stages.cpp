#include "parallel/stages.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "units/check.hpp"

namespace gpuscale {

namespace {

bool is_block(const LayerWork& layer) { return starts_block(layer) && layer.boundary.has_value(); }

/// First layers of the Transformer blocks, or of all units where there are none.
std::vector<std::size_t> block_starts(const ModelWork& work) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    if (is_block(work.layers[i])) starts.push_back(i);
  }
  return starts.empty() ? unit_starts(work) : starts;
}

std::vector<ModelPart> parts_at(const std::vector<std::size_t>& firsts, std::size_t layers, int stages) {
  std::vector<ModelPart> parts;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const std::size_t last = i + 1 < firsts.size() ? firsts[i + 1] : layers;
    parts.push_back({.stage = static_cast<int>(i) % stages, .first = firsts[i], .last = last});
  }
  return parts;
}

/// Parts that begin after so many blocks each; what stands before the first block belongs to the first part.
std::vector<std::size_t> firsts_of(const std::vector<std::size_t>& blocks, std::span<const std::int64_t> counts) {
  std::vector<std::size_t> firsts;
  std::size_t block = 0;
  for (const std::int64_t count : counts) {
    firsts.push_back(firsts.empty() ? 0 : blocks[block]);
    block += static_cast<std::size_t>(count);
  }
  return firsts;
}

/// What each unit takes: by stage, or once where stages are alike.
using UnitCosts = std::vector<std::vector<double>>;

/// Of the units on the stage of a part.
const std::vector<double>& costs_of_part(const UnitCosts& costs, std::size_t part) {
  return costs[part % costs.size()];
}

/// Where parts of at most `limit` begin, taking as much as fits into each.
std::vector<std::size_t> greedy_firsts(const std::vector<std::size_t>& units, const UnitCosts& costs, double limit,
                                       std::size_t parts) {
  std::vector<std::size_t> firsts = {0};
  double now = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::size_t units_left = units.size() - i;
    const bool must = units_left == parts - firsts.size();  // each part still to come needs a unit
    const double more = costs_of_part(costs, firsts.size() - 1)[i];
    if (i > 0 && (now + more > limit || must) && firsts.size() < parts) {
      firsts.push_back(units[i]);
      now = 0;
    }
    now += costs_of_part(costs, firsts.size() - 1)[i];
  }
  return firsts;
}

double longest(const std::vector<std::size_t>& firsts, const std::vector<std::size_t>& units, const UnitCosts& costs) {
  double most = 0;
  double now = 0;
  std::size_t parts = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (std::ranges::binary_search(firsts, units[i])) {
      now = 0;
      ++parts;
    }
    now += costs_of_part(costs, parts - 1)[i];
    most = std::max(most, now);
  }
  return most;
}

std::vector<double> unit_costs(const ModelWork& work, const std::vector<std::size_t>& units,
                               const std::vector<LayerTime>& times) {
  std::vector<double> costs;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::size_t end = i + 1 < units.size() ? units[i + 1] : work.layers.size();
    double cost = 0;
    for (std::size_t layer = units[i]; layer < end; ++layer)
      cost += (times[layer].forward + times[layer].backward).count();
    costs.push_back(cost);
  }
  return costs;
}

std::vector<std::size_t> balanced_firsts(const ModelWork& work, const StageTimes& times, std::size_t parts) {
  const std::vector<std::size_t> units = unit_starts(work);
  UnitCosts costs;
  double low = 0;
  double high = 0;
  for (const std::vector<LayerTime>& of_stage : times) {
    costs.push_back(unit_costs(work, units, of_stage));
    // A part takes no less than its largest unit on the fastest stage, and no more than all on the slowest.
    const double largest = *std::ranges::max_element(costs.back());
    low = costs.size() == 1 ? largest : std::min(low, largest);
    high = std::max(high, std::accumulate(costs.back().begin(), costs.back().end(), 0.0));
  }
  constexpr int kHalvings = 50;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (longest(greedy_firsts(units, costs, middle, parts), units, costs) <= middle ? high : low) = middle;
  }
  return greedy_firsts(units, costs, high, parts);
}

}  // namespace

std::vector<std::size_t> unit_starts(const ModelWork& work) {
  std::vector<std::size_t> starts = {0};
  bool has_parameters = false;
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    const LayerWork& layer = work.layers[i];
    if (i > 0 && layer.boundary && !layer.parameters.empty() && has_parameters) starts.push_back(i);
    has_parameters = has_parameters || !layer.parameters.empty();
  }
  return starts;
}

std::size_t most_parts(const ModelWork& work) { return unit_starts(work).size(); }

std::size_t block_count(const ModelWork& work) { return block_starts(work).size(); }

std::vector<ModelPart> cut_into_parts(const ModelWork& work, const StageTimes& times, const PipelineConfig& pipeline) {
  const auto parts = static_cast<std::size_t>(pipeline.stages) * static_cast<std::size_t>(pipeline.chunks);
  if (parts == 1) return {{.stage = 0, .first = 0, .last = work.layers.size()}};
  const std::vector<std::size_t> blocks = block_starts(work);
  if (!pipeline.split.empty()) {
    return parts_at(firsts_of(blocks, pipeline.split), work.layers.size(), pipeline.stages);
  }
  check(most_parts(work) >= parts, "the reader refuses more parts than a model has");
  const bool of_blocks = is_block(work.layers[blocks.front()]);
  if (of_blocks && blocks.size() % parts == 0 && times.size() == 1) {
    const std::vector<std::int64_t> even(parts, static_cast<std::int64_t>(blocks.size() / parts));
    return parts_at(firsts_of(blocks, even), work.layers.size(), pipeline.stages);
  }
  return parts_at(balanced_firsts(work, times, parts), work.layers.size(), pipeline.stages);
}

}  // namespace gpuscale
