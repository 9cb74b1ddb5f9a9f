#include "parallel/schedule.hpp"

#include <algorithm>

namespace gpuscale {

namespace {

using Passes = std::vector<StagePass>;

Passes gpipe(std::int64_t microbatches) {
  Passes passes;
  for (std::int64_t i = 0; i < microbatches; ++i) passes.push_back({PassKind::forward, i, 0});
  for (std::int64_t i = microbatches; i-- > 0;) passes.push_back({PassKind::backward, i, 0});
  return passes;
}

/// The chunk and microbatch of the k-th pass in one direction: the stages go round by groups of as many
/// microbatches as there are stages, a group through all chunks before the next.
StagePass in_turn(PassKind kind, std::int64_t k, std::int64_t stages, std::int64_t chunks) {
  const std::int64_t round = stages * chunks;
  const auto chunk = static_cast<int>(k % round / stages);
  return {.kind = kind,
          .microbatch = k / round * stages + k % stages,
          .chunk = kind == PassKind::forward ? chunk : static_cast<int>(chunks) - 1 - chunk};
}

/// Forward passes ahead, then one forward and one backward in turn, then the backward passes that are left.
Passes one_forward_one_backward(std::int64_t microbatches, std::int64_t ahead, std::int64_t stages,
                                std::int64_t chunks) {
  const std::int64_t all = microbatches * chunks;
  ahead = std::min(ahead, all);
  Passes passes;
  for (std::int64_t i = 0; i < all + ahead; ++i) {
    if (i < all) passes.push_back(in_turn(PassKind::forward, i, stages, chunks));
    if (i >= ahead) passes.push_back(in_turn(PassKind::backward, i - ahead, stages, chunks));
  }
  return passes;
}

/// All stages side by side in rounds of one pass: a backward pass if its errors are there, else a forward pass
/// while fewer microbatches are under way than stages, else gradients of weights.
class ZeroBubble {
 public:
  ZeroBubble(int stages, std::int64_t microbatches)
      : stages_(stages), microbatches_(microbatches), state_(static_cast<std::size_t>(stages)) {}

  std::vector<Passes> run() {
    std::vector<Passes> passes(state_.size());
    for (std::size_t done = 0; done < state_.size();) {
      std::vector<State> next = state_;
      done = 0;
      for (std::size_t stage = 0; stage < state_.size(); ++stage) {
        if (state_[stage].weights == microbatches_) ++done;
        take_one(stage, next[stage], passes[stage]);
      }
      state_ = std::move(next);
    }
    return passes;
  }

 private:
  /// Passes of each kind that have ended.
  struct State {
    std::int64_t forward = 0;
    std::int64_t backward = 0;
    std::int64_t weights = 0;
  };

  void take_one(std::size_t stage, State& next, Passes& passes) const {
    const State& now = state_[stage];
    const bool is_last = stage + 1 == state_.size();
    const std::int64_t errors = is_last ? now.forward : state_[stage + 1].backward;
    const std::int64_t inputs = stage == 0 ? microbatches_ : state_[stage - 1].forward;
    const std::int64_t most = stages_ - static_cast<std::int64_t>(stage);
    if (now.backward < std::min(errors, now.forward)) {
      passes.push_back({PassKind::backward, next.backward++, 0});
    } else if (now.forward < inputs && now.forward - now.backward < most && now.forward - now.weights < stages_) {
      passes.push_back({PassKind::forward, next.forward++, 0});
    } else if (now.weights < now.backward) {
      passes.push_back({PassKind::weight_gradients, next.weights++, 0});
    }
  }

  std::int64_t stages_;
  std::int64_t microbatches_;
  std::vector<State> state_;
};

}  // namespace

std::vector<StagePass> stage_passes(const PipelineConfig& pipeline, int stage) {
  const std::int64_t stages = pipeline.stages;
  const std::int64_t after = stages - stage - 1;
  switch (pipeline.schedule) {
    case PipelineSchedule::gpipe:
      return gpipe(pipeline.microbatches);
    case PipelineSchedule::one_forward_one_backward:
      return one_forward_one_backward(pipeline.microbatches, after, stages, 1);
    case PipelineSchedule::interleaved: {
      const std::int64_t chunks = pipeline.chunks;
      return one_forward_one_backward(pipeline.microbatches, 2 * after + (chunks - 1) * stages, stages, chunks);
    }
    case PipelineSchedule::zero_bubble:
      break;
  }
  return ZeroBubble(pipeline.stages, pipeline.microbatches).run()[static_cast<std::size_t>(stage)];
}

double microbatches_in_flight(const PipelineConfig& pipeline, int stage) {
  std::int64_t now = 0;
  std::int64_t most = 0;
  const bool parted = pipeline.schedule == PipelineSchedule::zero_bubble;
  const PassKind frees = parted ? PassKind::weight_gradients : PassKind::backward;
  for (const StagePass& pass : stage_passes(pipeline, stage)) {
    if (pass.kind == PassKind::forward) most = std::max(most, ++now);
    if (pass.kind == frees) --now;
  }
  return static_cast<double>(most) / static_cast<double>(pipeline.chunks);
}

}  // namespace gpuscale
