#pragma once

#include <cstdint>
#include <span>

#include "units/quantity.hpp"

namespace gpuscale {

/// What one layer took in one pass on a card, by measurement. It stands in place of the times worked out from the
/// layer's kernels and does not depend on the card of the scenario.
struct MeasuredTime {
  std::int64_t batch = 1;  ///< samples of the pass
  int split = 1;           ///< ranks that divided the layer: the times are those of one of them
  Seconds forward = {};
  Seconds backward = {};  ///< errors of the layer's input
  Seconds update = {};    ///< gradients of its weights, and their update

  bool operator==(const MeasuredTime&) const = default;
};

/// The times at a batch and a split, from measured points: between two batches along a line; above the largest in
/// proportion; below the smallest along the line of the first two, but never less than in proportion, for what a
/// launch or a part-filled tile costs does not shrink. Only points of the same split count; if there are none, those of
/// the largest smaller split, with times that shrink as the parts do. \pre at least one point; batches and splits are
/// at least 1
MeasuredTime measured_at(std::span<const MeasuredTime> points, std::int64_t batch, int split);

}  // namespace gpuscale
