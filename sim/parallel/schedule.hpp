#pragma once

#include <cstdint>
#include <vector>

#include "parallel/job.hpp"

namespace gpuscale {

/// What a stage does with a microbatch in one go.
enum class PassKind {
  forward,
  backward,         ///< errors and, unless the schedule parts them, gradients of the weights
  weight_gradients  ///< only where the schedule parts them (zero bubble)
};

struct StagePass {
  PassKind kind = PassKind::forward;
  std::int64_t microbatch = 0;
  int chunk = 0;  ///< which of the stage's parts of the model

  bool operator==(const StagePass&) const = default;
};

/// How long the passes of a microbatch take, in any unit: what a zero-bubble order is chosen by.
struct PassLengths {
  double forward = 1.0;
  double backward = 1.0;  ///< errors only
  double weights = 1.0;
};

/// The order in which a stage works, as published: GPipe (arXiv:1811.06965), 1F1B (PipeDream-Flush,
/// arXiv:2006.09503), interleaved (arXiv:2104.04473), zero bubble H1 (arXiv:2401.10241, by greedy choice with the
/// lengths of the passes). \pre the microbatches of an interleaved schedule are a multiple of the stages
std::vector<StagePass> stage_passes(const PipelineConfig& pipeline, int stage, const PassLengths& lengths = {});

/// Microbatches whose activations a stage holds at once at most, counting each chunk's share as a fraction of one.
double microbatches_in_flight(const PipelineConfig& pipeline, int stage);

}  // namespace gpuscale
