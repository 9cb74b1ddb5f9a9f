#include "report/strategy_words.hpp"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

std::string bucket_in_words(const Job& job) {
  const ExchangeHabit& habit = job.framework.exchange;
  if (job.parallel.exchange.bucket) return to_text(*job.parallel.exchange.bucket) + " buckets";
  if (habit.whole_model) return "the whole model at once";
  return habit.bucket.count() > 0 ? to_text(habit.bucket) + " buckets" : "each tensor alone";
}

/// How the pieces leave.
std::string pieces_in_words(const Job& job, ExchangeAlgorithm algorithm) {
  const ExchangeConfig& asked = job.parallel.exchange;
  const ExchangeHabit& habit = job.framework.exchange;
  const bool by_priority = asked.schedule.value_or(habit.schedule) == ExchangeSchedule::priority;
  if (by_priority && algorithm == ExchangeAlgorithm::parameter_server_gpu)
    return "whole tensors by priority, overlapped with backward and the next forward";
  if (by_priority) {
    return fmt::format("pieces of up to {} by priority, overlapped with backward and the next forward",
                       to_text(asked.partition.value_or(habit.partition)));
  }
  const std::string_view when = asked.delayed                           ? "a step late"
                                : asked.overlap.value_or(habit.overlap) ? "overlapped with backward"
                                                                        : "after backward";
  return fmt::format("{}, {}", bucket_in_words(job), when);
}

std::string exchange_in_words(const Job& job, const PlannedStep& step) {
  std::string text(name(step.algorithm));
  if (step.algorithm == ExchangeAlgorithm::gather) return text + " on GPU 0";
  if (!step.algorithm_reason.empty()) text += " (" + step.algorithm_reason + ")";
  text += ", " + pieces_in_words(job, step.algorithm);
  if (job.parallel.asynchronous) text += ", asynchronous";
  if (job.parallel.exchange.codec != CodecKind::none) {
    text += fmt::format(", {} codec", codec(job.parallel.exchange.codec).name);
    if (job.parallel.exchange.codec == CodecKind::low_rank)
      text += fmt::format(" of rank {}", job.parallel.exchange.rank);
  }
  return text;
}

std::string layer_split_in_words(const Job& job, const PlannedStep& step) {
  std::string text = job.parallel.model.whole
                         ? fmt::format("layers from the first linear one on whole on {} GPUs", step.grid.tensor)
                         : fmt::format("layers split over {} GPUs", step.grid.tensor);
  if (step.undivided > 0) text += ", those before the first linear one by samples";
  if (job.parallel.model.sub_batch > 0) text += fmt::format(" in sub-batches of {}", job.parallel.model.sub_batch);
  if (job.parallel.model.update_each) text += " and updated after each";
  if (job.parallel.model.codec != CodecKind::none) {
    text += fmt::format(", {} activations", codec(job.parallel.model.codec).name);
  }
  return text;
}

std::string pipeline_in_words(const Job& job, const PlannedStep& step) {
  const PipelineConfig& pipeline = job.parallel.pipeline;
  if (step.grid.pipeline == 1) return fmt::format("gradients of {} microbatches accumulated", step.passes);
  std::string text =
      fmt::format("{} pipeline of {} stages", kPipelineScheduleNames[static_cast<std::size_t>(pipeline.schedule)],
                  step.grid.pipeline);
  if (pipeline.chunks > 1) text += fmt::format(" with {} parts of the model each", pipeline.chunks);
  return text + fmt::format(", {} microbatch{}", step.passes, step.passes == 1 ? "" : "es");
}

std::string sharding_in_words(const PlannedStep& step, const ShardConfig& shard) {
  constexpr std::array<std::string_view, 3> kShared = {"optimizer state", "optimizer state and gradients",
                                                       "optimizer state, gradients and parameters"};
  return fmt::format("{} shared out over {} (ZeRO-{})", kShared[static_cast<std::size_t>(shard.stage - 1)], step.shard,
                     shard.stage);
}

}  // namespace

std::string strategy_in_words(const Job& job, const PlannedStep& step) {
  if (job.transfer) return "one copy from the first GPU to the second";
  const ParallelConfig& parallel = job.parallel;
  if (parallel.independent && step.grid.size() > 1)
    return fmt::format("{} independent jobs{}", step.grid.size(),
                       step.kinds.size() > 1 ? ", each at its own pace" : "");
  std::vector<std::string> parts;
  if (parallel.model.degree > 1) {
    parts.push_back(layer_split_in_words(job, step));
  } else if (step.grid.tensor > 1) {
    parts.push_back(fmt::format("tensor parallel over {}{}", step.grid.tensor,
                                parallel.tensor.sequence_parallel ? " with sequence parallelism" : ""));
  }
  if (step.grid.context > 1) {
    parts.push_back(fmt::format("context parallel over {} ({})", step.grid.context,
                                kContextMethodNames[static_cast<std::size_t>(parallel.context.method)]));
  }
  if (step.grid.expert > 1) parts.push_back(fmt::format("experts divided over {}", step.grid.expert));
  const bool accumulates = parallel.model.degree == 1 && step.passes > 1;
  if (step.grid.pipeline > 1 || accumulates) parts.push_back(pipeline_in_words(job, step));
  if (step.grid.data > 1) {
    const bool by_speed = parallel.batch_split == BatchSplit::proportional;
    parts.push_back(
        fmt::format("data parallel over {}{}: ", step.grid.data, by_speed ? " in proportion to speed" : "") +
        (parallel.average_every > 1 ? fmt::format("parameters averaged every {} steps", parallel.average_every)
                                    : exchange_in_words(job, step)));
  }
  if (parallel.shard.stage > 0 && step.shard > 1) parts.push_back(sharding_in_words(step, parallel.shard));
  if (parallel.recompute != Recompute::none) {
    parts.push_back(fmt::format("{} recompute", kRecomputeNames[static_cast<std::size_t>(parallel.recompute)]));
  }
  return parts.empty() ? "one GPU" : fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace gpuscale
