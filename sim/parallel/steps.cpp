// The steps of a plan, one after the other: what each consists of and what carries over to the next.

#include <array>

#include "parallel/step_builder.hpp"

namespace gpuscale {

namespace {

/// The first two of steps that run into each other differ from those that follow.
constexpr int kStepsThatRunOn = 4;

void begin_step(StepBuilder& step) {
  const Seconds cost = step.job.framework.host.step;
  if (cost.count() <= 0) return;
  TaskId once;
  for (Role& role : step.roles) {
    role.begun = role.last;  // the host comes to this step when it has seen the end of the one before
    const bool already = step.job.framework.host.shared && once.valid();
    if (!already) {
      once = step.plan.add(Work{.activity = Activity::host,
                                .lane = role.host,
                                .duration = cost * role.host_pace,
                                .label = step.plan.label("step")},
                           {role.last});
    }
    role.last = once;
  }
}

/// What an interpreter hands over before the step can begin.
void add_feed(StepBuilder& step) {
  if (!step.job.framework.feed) return;
  const RankTasks fed = add_fed_samples(step, step.plan.join(step.last()));
  for (std::size_t i = 0; i < step.roles.size(); ++i) step.roles[i].last = fed[i];
}

/// What the steps of a job are made of.
struct StepKind {
  bool exchanges = false;
  bool gathers = false;   ///< by a one-process wrapper
  bool averages = false;  ///< parameters, once in several steps
  bool by_priority = false;
  bool runs_on = false;  ///< exchanges go on beside the next step

  explicit StepKind(const StepBuilder& step) {
    const ParallelConfig& parallel = step.job.parallel;
    exchanges =
        !parallel.independent && !step.job.forward_only && (step.grid.size() > 1 || updates_on_server(step.job));
    gathers = exchanges && step.result.algorithm == ExchangeAlgorithm::gather && step.grid.data == step.grid.size();
    averages = exchanges && parallel.average_every > 1;
    by_priority = exchanges && !gathers && schedule_in_force(step.job) == ExchangeSchedule::priority;
    runs_on = by_priority || (exchanges && !gathers && reads_when_needed(step));
  }
};

/// \returns the end of its passes
TaskId add_step(StepBuilder& step, const StepKind& kind) {
  begin_step(step);
  add_feed(step);
  if (kind.gathers) {
    add_gathered_step(step);
  } else {
    add_forward_and_backward(step);
  }
  const TaskId passed = kind.runs_on ? step.plan.join(step.last()) : TaskId();
  if (kind.by_priority) {
    add_priority_exchange(step);
    return passed;
  }
  if (kind.exchanges && !kind.gathers && !kind.averages) add_gradient_exchange(step);
  if (kind.exchanges) add_tied_sums(step);
  add_optimizer_step(step);
  return passed;
}

}  // namespace

void add_steps(StepBuilder& step) {
  const StepKind kind(step);
  step.result.steps = kind.averages  ? static_cast<int>(step.job.parallel.average_every)
                      : kind.runs_on ? kStepsThatRunOn
                                     : 1;
  RankTasks passed;  // by step
  TaskId samples;    // of the next step
  for (int i = 0; i < step.result.steps; ++i) {
    for (Role& role : step.roles) {
      if (samples.valid()) role.last = step.plan.join(std::array{role.last, samples});
    }
    passed.push_back(add_step(step, kind));
    if (i + 1 < step.result.steps) samples = add_input(step, samples);
  }
  if (kind.averages) add_parameter_average(step);
  add_input(step, samples);
  if (kind.runs_on)
    step.result.steady = SteadyPart{.from = passed[1], .to = passed.back(), .steps = kStepsThatRunOn - 2};
}

}  // namespace gpuscale
