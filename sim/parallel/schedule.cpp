#include "parallel/schedule.hpp"

#include <algorithm>
#include <limits>
#include <utility>

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

/// All stages side by side in time. A stage does what it can begin first: of what it can begin at once, a backward
/// pass before a forward pass before gradients of weights. Activations in flight stay within those of 1F1B.
class ZeroBubble {
 public:
  ZeroBubble(int stages, std::int64_t microbatches, const PassLengths& lengths)
      : microbatches_(microbatches), lengths_(lengths), stages_(static_cast<std::size_t>(stages)) {}

  std::vector<Passes> run() {
    while (true) {
      std::size_t first = stages_.size();
      Choice chosen;
      for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
        const Choice choice = next_of(stage);
        if (choice.begin >= chosen.begin) continue;
        chosen = choice;
        first = stage;
      }
      if (first == stages_.size()) break;
      take(first, chosen);
    }
    std::vector<Passes> passes;
    for (Stage& stage : stages_) passes.push_back(std::move(stage.passes));
    return passes;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Stage {
    Passes passes = {};
    std::vector<double> forward = {};   ///< ends of the forward passes so far
    std::vector<double> backward = {};  ///< and of the backward passes
    std::int64_t weights = 0;           ///< passes for gradients of weights so far
    double free = 0.0;
  };
  struct Choice {
    PassKind kind = PassKind::forward;
    double begin = kNever;
  };

  static std::int64_t count(const std::vector<double>& ends) { return static_cast<std::int64_t>(ends.size()); }

  [[nodiscard]] double after(const Stage& stage, const std::vector<double>& ends, std::int64_t microbatch) const {
    return microbatch < count(ends) ? std::max(stage.free, ends[static_cast<std::size_t>(microbatch)]) : kNever;
  }

  [[nodiscard]] Choice next_of(std::size_t number) const {
    const Stage& stage = stages_[number];
    const std::int64_t forward = count(stage.forward);
    const std::int64_t backward = count(stage.backward);
    Choice best;
    const auto consider = [&best](PassKind kind, double begin) {
      if (begin < best.begin) best = {kind, begin};
    };
    const bool is_last = number + 1 == stages_.size();
    consider(PassKind::backward, after(stage, is_last ? stage.forward : stages_[number + 1].backward, backward));
    const auto most = static_cast<std::int64_t>(stages_.size() - number);
    const bool has_room =
        forward - backward < most && forward - stage.weights < static_cast<std::int64_t>(stages_.size());
    if (forward < microbatches_ && has_room) {
      consider(PassKind::forward, number == 0 ? stage.free : after(stage, stages_[number - 1].forward, forward));
    }
    if (stage.weights < backward) consider(PassKind::weight_gradients, stage.free);
    return best;
  }

  void take(std::size_t number, const Choice& choice) {
    Stage& stage = stages_[number];
    switch (choice.kind) {
      case PassKind::forward:
        stage.passes.push_back({choice.kind, count(stage.forward), 0});
        stage.free = choice.begin + lengths_.forward;
        stage.forward.push_back(stage.free);
        break;
      case PassKind::backward:
        stage.passes.push_back({choice.kind, count(stage.backward), 0});
        stage.free = choice.begin + lengths_.backward;
        stage.backward.push_back(stage.free);
        break;
      case PassKind::weight_gradients:
        stage.passes.push_back({choice.kind, stage.weights++, 0});
        stage.free = choice.begin + lengths_.weights;
        break;
    }
  }

  std::int64_t microbatches_;
  PassLengths lengths_;
  std::vector<Stage> stages_;
};

}  // namespace

std::vector<StagePass> stage_passes(const PipelineConfig& pipeline, int stage, const PassLengths& lengths) {
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
  return ZeroBubble(pipeline.stages, pipeline.microbatches, lengths).run()[static_cast<std::size_t>(stage)];
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
