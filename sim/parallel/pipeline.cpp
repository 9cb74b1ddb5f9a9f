// The order of passes: stage by stage and microbatch by microbatch, with what stages send each other.

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

#include "collective/all_reduce.hpp"
#include "parallel/passes.hpp"
#include "parallel/schedule.hpp"
#include "units/check.hpp"

namespace gpuscale {

namespace {

PassLengths pass_lengths(const std::vector<std::size_t>& layers, const std::vector<LayerTime>& times) {
  PassLengths lengths{.forward = 0.0, .backward = 0.0, .weights = 0.0};
  for (const std::size_t layer : layers) {
    const LayerTime& time = times[layer];
    lengths.forward += time.forward.count();
    lengths.backward += (time.backward - time.weight_gradients).count();
    lengths.weights += time.weight_gradients.count();
  }
  return lengths;
}

/// Of the stage that computes longest; what it exchanges is left out.
PassLengths longest_passes(const StepBuilder& step) {
  PassLengths longest{.forward = 0.0, .backward = 0.0, .weights = 0.0};
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    for (const std::size_t kind : step.kinds_of(stage)) {
      const PassLengths lengths = pass_lengths(layers_of(step, stage), step.kinds[kind].times);
      if (lengths.forward + lengths.backward > longest.forward + longest.backward) longest = lengths;
    }
  }
  return longest;
}

/// All stages with their schedules; adds each pass once what it needs has been added.
class Pipeline {
 public:
  explicit Pipeline(StepBuilder& step) : step_(step), config_(step.job.parallel.pipeline), passes_(step) {
    const std::size_t microbatches = static_cast<std::size_t>(config_.microbatches);
    inputs_.assign(step.parts.size(), std::vector<RankTasks>(microbatches));
    errors_ = inputs_;
    const RankTasks nothing(step.roles.size());
    for (RankTasks& input : inputs_.front()) input = nothing;
    const PassLengths lengths = longest_passes(step);
    for (int stage = 0; stage < config_.stages; ++stage) {
      schedules_.push_back(stage_passes(config_, stage, lengths));
      if (step.job.forward_only)
        std::erase_if(schedules_.back(), [](const StagePass& pass) { return pass.kind != PassKind::forward; });
    }
    next_.assign(schedules_.size(), 0);
  }

  void add() {
    for (bool added = true; added;) {
      added = false;
      for (std::size_t stage = 0; stage < schedules_.size(); ++stage) {
        while (next_[stage] < schedules_[stage].size() && can_add(stage)) {
          add_pass(stage, schedules_[stage][next_[stage]++]);
          added = true;
        }
      }
    }
    for (std::size_t stage = 0; stage < schedules_.size(); ++stage)
      check(next_[stage] == schedules_[stage].size(), "a schedule waits for nothing that comes after it");
  }

 private:
  [[nodiscard]] std::size_t part_of(std::size_t stage, const StagePass& pass) const {
    return static_cast<std::size_t>(pass.chunk) * schedules_.size() + stage;
  }

  RankTasks& needed_by(std::size_t stage, const StagePass& pass) {
    auto& arrived = pass.kind == PassKind::forward ? inputs_ : errors_;
    return arrived[part_of(stage, pass)][static_cast<std::size_t>(pass.microbatch)];
  }

  [[nodiscard]] bool can_add(std::size_t stage) {
    const StagePass& pass = schedules_[stage][next_[stage]];
    return pass.kind == PassKind::weight_gradients || !needed_by(stage, pass).empty();
  }

  /// What the stage did last, and what has arrived for this pass.
  RankTasks start_of(std::size_t stage, const RankTasks& arrived) {
    RankTasks start = step_.last();
    for (const std::size_t role : step_.roles_of(static_cast<int>(stage)))
      start[role] = step_.plan.join(std::array{start[role], arrived[role]});
    return start;
  }

  /// What the host does for a microbatch before it issues the first layer.
  void begin_microbatch(std::size_t stage) {
    const Job& job = step_.job;
    const Seconds cost = job.framework.host.microbatch;
    if (cost.count() <= 0) return;
    for (const std::size_t role : step_.roles_of(static_cast<int>(stage))) {
      step_.plan.add(Work{.activity = Activity::host,
                          .lane = step_.roles[role].host,
                          .duration = cost * step_.roles[role].host_pace,
                          .label = step_.plan.label("microbatch")});
    }
  }

  void add_pass(std::size_t stage, const StagePass& pass) {
    if (pass.kind == PassKind::forward && pass.chunk == 0) begin_microbatch(stage);
    const ModelPart& part = step_.parts[part_of(stage, pass)];
    const bool parted = config_.schedule == PipelineSchedule::zero_bubble;
    const std::size_t slot = static_cast<std::size_t>(pass.microbatch) % step_.gradient_ready.size();
    RankTasks done;
    switch (pass.kind) {
      case PassKind::forward:
        done = passes_.forward(part, start_of(stage, needed_by(stage, pass)));
        break;
      case PassKind::backward:
        done = passes_.backward(part, slot, parted, start_of(stage, needed_by(stage, pass)));
        break;
      case PassKind::weight_gradients:
        done = passes_.weight_gradients(part, slot, step_.last());
        break;
    }
    const RankTasks sent = pass.kind == PassKind::weight_gradients ? done : hand_on(stage, pass, done);
    const bool waits = step_.job.framework.blocking_sends;
    for (const std::size_t role : step_.roles_of(static_cast<int>(stage)))
      step_.roles[role].last = waits ? sent[role] : done[role];
  }

  /// Activations to the part after, errors to the part before; at the end of the model, errors are there at once.
  RankTasks hand_on(std::size_t stage, const StagePass& pass, const RankTasks& done) {
    const std::size_t part = part_of(stage, pass);
    const auto microbatch = static_cast<std::size_t>(pass.microbatch);
    const bool forward = pass.kind == PassKind::forward;
    if (forward && part + 1 == step_.parts.size()) {
      errors_[part][microbatch] = done;
      return done;
    }
    if (!forward && part == 0) return done;
    const std::size_t to = forward ? part + 1 : part - 1;
    const std::size_t border = step_.parts[forward ? to : part].first;
    RankTasks& arrived = (forward ? inputs_ : errors_)[to][microbatch];
    arrived = send(static_cast<int>(stage), step_.parts[to].stage, *step_.work.layers[border].boundary, done);
    return arrived;
  }

  RankTasks send(int from, int to, Bytes size, const RankTasks& ready) {
    if (from == to) return ready;
    const Exchange exchange = step_.exchange_of(size, "pipeline", config_.codec);
    step_.note_sent("pipeline", from, exchange, 1.0);
    return step_.exchanges.add(
        step_.plan, step_.across_stages({from, to}),
        fmt::format("send {} {}", size.count(), static_cast<int>(exchange.codec)),
        [&](PlanBuilder& plan, const RankGroup& pair, const RankTasks& members) {
          return RankTasks(2, add_send(plan, pair, exchange, members.front()));
        },
        ready);
  }

  StepBuilder& step_;
  const PipelineConfig& config_;
  StagePasses passes_;
  std::vector<std::vector<StagePass>> schedules_ = {};  ///< by stage
  std::vector<std::size_t> next_ = {};
  std::vector<std::vector<RankTasks>> inputs_ = {};  ///< by part and microbatch, once they were added
  std::vector<std::vector<RankTasks>> errors_ = {};
};

RankTasks both(StepBuilder& step, RankTasks one, const RankTasks& other) {
  for (std::size_t role = 0; role < step.roles.size(); ++role)
    one[role] = step.plan.join(std::array{one[role], other[role]});
  return one;
}

/// Sub-batches of split layers (arXiv:1404.5997). Their activations leave one after the other, so that those of the
/// next travel while one computes. What is not split is computed once, before and after.
void add_sub_batches(StepBuilder& step) {
  StagePasses passes(step);
  const ModelPart whole{.stage = 0, .first = 0, .last = step.undivided};
  const ModelPart divided{.stage = 0, .first = step.undivided, .last = step.work.layers.size()};
  const bool trains = !step.job.forward_only;
  const bool in_turn = step.job.framework.sub_batches_in_turn;
  const bool updates = step.job.parallel.model.update_each;
  const auto backward = [&](const RankTasks& forward) {
    if (!trains) return forward;
    const RankTasks done = passes.backward(divided, 0, false, forward);
    return updates ? add_split_update(step, done) : done;
  };
  RankTasks arrived = passes.forward(whole, step.last());
  std::vector<RankTasks> forwards;
  std::vector<RankTasks> ends;
  for (std::int64_t pass = 0; pass < step.passes; ++pass) {
    if (step.undivided > 0) arrived = passes.gather_sub_batch(divided, arrived);
    const RankTasks start = in_turn && !ends.empty() ? both(step, arrived, ends.back()) : arrived;
    forwards.push_back(passes.forward(divided, start));
    if (in_turn) ends.push_back(backward(forwards.back()));
  }
  if (!in_turn) std::ranges::transform(forwards, std::back_inserter(ends), backward);
  RankTasks all = ends.front();
  for (const RankTasks& end : ends) all = both(step, all, end);
  if (trains) all = passes.backward(whole, 0, false, all);
  for (std::size_t role = 0; role < step.roles.size(); ++role) step.roles[role].last = all[role];
}

}  // namespace

void add_forward_and_backward(StepBuilder& step) {
  const ShardConfig& shard = step.job.parallel.shard;
  // Gradients that are shared out leave after each microbatch: nobody keeps the sum of all of them.
  const bool each = shard.stage >= 2 && step.grid.pipeline == 1;
  const auto slots = static_cast<std::size_t>(each ? step.job.parallel.pipeline.microbatches : 1);
  step.gradient_ready.assign(slots, std::vector<RankTasks>(step.work.layers.size(), RankTasks(step.roles.size())));
  if (step.job.parallel.model.degree > 1) {
    add_sub_batches(step);
  } else {
    Pipeline(step).add();
  }
}

}  // namespace gpuscale
