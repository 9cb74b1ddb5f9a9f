#include "scenario/batch_checks.hpp"

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

#include "scenario/beside.hpp"

namespace gpuscale {

namespace {

class BatchChecks {
 public:
  BatchChecks(const Scenario& scenario, Reading& reading)
      : job_(scenario.job), parallel_(scenario.job.parallel), gpus_(scenario.cluster.gpus), reading_(reading) {}

  /// Whether samples can be shared out.
  bool batch(std::int64_t replicas) {
    if (parallel_.batch_split == BatchSplit::proportional) return batch_by_speed(replicas);
    const BatchSpec& batch = job_.batch;
    if (!batch.per_gpu && batch.samples < replicas) {
      note("workload.batch",
           fmt::format("a global batch of {} leaves some of the {} replicas without a sample; write {} "
                       "or more, or fewer replicas",
                       batch.samples, replicas, replicas));
      return false;
    }
    if (!batch.per_gpu && batch.samples % replicas != 0) {
      note("workload.batch", fmt::format("a global batch of {} does not divide over {} replicas; {} does",
                                         batch.samples, replicas, multiples_beside(batch.samples, replicas)));
      return false;
    }
    const std::int64_t group = batch.per_gpu ? batch.samples * (gpus_ / replicas) : batch.samples / replicas;
    return sub_batch(group) && microbatches(group);
  }

 private:
  /// Shares in proportion to speed: of microbatches, one for each GPU at least, and only where each copy of the model
  /// has one GPU and computes for itself.
  bool batch_by_speed(std::int64_t replicas) {
    const auto refuse = [&](std::string text) {
      note("strategy.batch_split", std::move(text) + "; write 'batch_split: even'");
      return false;
    };
    if (replicas != gpus_) {
      return refuse(
          fmt::format("shares in proportion to speed are for copies of the model on one GPU each, and here {} "
                      "GPUs hold one together",
                      gpus_ / replicas));
    }
    if (parallel_.expert.degree > 1)
      return refuse("ranks that divide experts visit each other with the same number of samples");
    const ExchangeAlgorithm asked = parallel_.exchange.algorithm;
    if ((asked == ExchangeAlgorithm::automatic ? job_.framework.exchange.algorithm : asked) ==
        ExchangeAlgorithm::gather)
      return refuse("the gathered step scatters the batch in equal parts");
    if (parallel_.pipeline.micro_batch > 0) {
      note("strategy.pipeline.micro_batch",
           "microbatches differ from GPU to GPU where shares are in proportion to speed; write 'microbatches' instead");
      return false;
    }
    const std::int64_t global = job_.batch.per_gpu ? job_.batch.samples * gpus_ : job_.batch.samples;
    const std::int64_t passes = parallel_.pipeline.microbatches;
    if (global % passes != 0) {
      note("strategy.pipeline.microbatches",
           fmt::format("{} microbatches do not divide the {} samples of a step; write 'microbatches: {}'", passes,
                       global, divisors_beside(global, passes)));
      return false;
    }
    if (global / passes >= replicas) return true;
    note("workload.batch", fmt::format("{} samples a microbatch leave some of the {} replicas without one; write a "
                                       "larger batch or fewer microbatches",
                                       global / passes, replicas));
    return false;
  }

  bool sub_batch(std::int64_t group) {
    const std::int64_t samples = parallel_.model.sub_batch;
    if (samples == 0 || (samples <= group && group % samples == 0)) return true;
    note("strategy.model.sub_batch",
         fmt::format("a sub_batch of {} does not divide the {} samples of a replica; write {}", samples, group,
                     divisors_beside(group, samples)));
    return false;
  }

  bool microbatches(std::int64_t group) {
    const PipelineConfig& pipeline = parallel_.pipeline;
    const std::int64_t samples = pipeline.micro_batch;
    if (samples > 0 && (samples > group || group % samples != 0)) {
      note("strategy.pipeline.micro_batch",
           fmt::format("microbatches of {} do not divide the {} samples of a replica; write 'micro_batch: {}'", samples,
                       group, divisors_beside(group, samples)));
      return false;
    }
    const std::int64_t count = samples > 0 ? group / samples : pipeline.microbatches;
    if (count > group || group % count != 0) {
      note("strategy.pipeline.microbatches",
           fmt::format("{} microbatches do not divide the {} samples of a replica; write 'microbatches: {}'", count,
                       group, divisors_beside(group, count)));
      return false;
    }
    if (pipeline.schedule == PipelineSchedule::interleaved && count % pipeline.stages != 0) {
      note("strategy.pipeline.microbatches",
           fmt::format(
               "an interleaved schedule goes round the {} stages by as many microbatches, and {} are no multiple "
               "of that; write {}",
               pipeline.stages, count, multiples_beside(count, pipeline.stages)));
      return false;
    }
    return true;
  }

  void note(std::string_view key, std::string text) { reading_.note(reading_.place_of(key), std::move(text)); }

  const Job& job_;
  const ParallelConfig& parallel_;
  std::int64_t gpus_;
  Reading& reading_;
};

}  // namespace

void check_batch(const Scenario& scenario, std::int64_t replicas, Reading& reading) {
  BatchChecks(scenario, reading).batch(replicas);
}

}  // namespace gpuscale
