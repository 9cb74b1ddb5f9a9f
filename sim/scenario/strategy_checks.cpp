#include "scenario/strategy_checks.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/batch_checks.hpp"
#include "scenario/beside.hpp"
#include "scenario/framework_reader.hpp"
#include "scenario/layer_checks.hpp"

namespace gpuscale {

namespace {

struct Degree {
  std::string_view key;
  std::int64_t value;
};

class StrategyChecks {
 public:
  StrategyChecks(const Scenario& scenario, Reading& reading)
      : job_(scenario.job),
        parallel_(scenario.job.parallel),
        gpus_(scenario.cluster.gpus),
        unlike_(!scenario.cluster.other_cards.empty()),
        reading_(reading) {}

  void together() {
    if (parallel_.model.degree > 1 && parallel_.tensor.degree > 1) {
      note("strategy.model", "'model' and 'tensor' both divide layers; leave one of them at 1");
    }
    const bool layer_split = parallel_.model.degree > 1;
    const PipelineConfig& pipeline = parallel_.pipeline;
    if (layer_split && (pipeline.stages > 1 || pipeline.microbatches > 1 || pipeline.micro_batch > 0)) {
      note(
          "strategy.pipeline",
          "split layers work in sub-batches of their own; leave 'pipeline' out and write 'model: {sub_batch: ...}', or "
          "use 'tensor' instead of 'model'");
    }
    if (pipeline.stages > 1 && parallel_.shard.stage >= 2) {
      note("strategy.zero",
           "gradients that are shared out would be exchanged after every microbatch of a pipeline; write 'zero: 1' or "
           "leave 'pipeline' out");
    }
    if (pipeline.stages == 1 && pipeline.schedule != PipelineSchedule::one_forward_one_backward &&
        pipeline.schedule != PipelineSchedule::gpipe) {
      note("strategy.pipeline.schedule", "one stage has no such schedule; write 'stages: 2' or more, or leave it out");
    }
    if (parallel_.average_every > 1 && parallel_.shard.stage > 0) {
      note("strategy.average_every", "copies that share out their state cannot go their own ways; write 'zero: 0'");
    }
    asynchronous();
    updates_after_sub_batches();
    const bool sharded = parallel_.shard.stage > 0;
    const ExchangeAlgorithm algorithm = parallel_.exchange.algorithm;
    if (sharded && meets_at_one_rank(algorithm)) {
      note("strategy.exchange.algorithm",
           fmt::format("'{}' has no scattered sums, which 'zero' needs; write ring", name(algorithm)));
    }
    const Framework& framework = job_.framework;
    if (sharded && algorithm == ExchangeAlgorithm::automatic && meets_at_one_rank(framework.exchange.algorithm)) {
      note("strategy.zero",
           fmt::format("{} sums by '{}', which has no scattered sums; leave 'zero' out, write 'exchange: {{algorithm: "
                       "ring}}' or take another framework",
                       in_words(framework), name(framework.exchange.algorithm)));
    }
  }

  void asynchronous() {
    if (!parallel_.asynchronous) return;
    const ExchangeAlgorithm algorithm = parallel_.exchange.algorithm;
    if (algorithm != ExchangeAlgorithm::automatic && algorithm != ExchangeAlgorithm::parameter_server_cpu) {
      note("strategy.exchange.algorithm",
           fmt::format("asynchronous workers meet at a server, not by {}; write parameter_server_cpu or leave it out",
                       name(algorithm)));
    }
    if (unlike_) {
      note("strategy.asynchronous",
           "asynchronous workers on unlike GPUs make unlike numbers of steps, which one step does not show; leave "
           "'asynchronous' out or name one card in 'cluster.gpu'");
    }
    if (parallel_.shard.stage > 0 || parallel_.average_every > 1 || parallel_.exchange.delayed) {
      note("strategy.asynchronous",
           "asynchronous workers share out no state, take no averages and wait for no step; leave 'zero', "
           "'average_every' and 'delayed' out");
    }
  }

  /// The number of replicas, or nothing if degrees do not multiply to the GPU count.
  std::optional<std::int64_t> degrees() {
    const std::vector<Degree> all = {{"strategy.model.degree", parallel_.model.degree},
                                     {"strategy.tensor", parallel_.tensor.degree},
                                     {"strategy.context", parallel_.context.degree},
                                     {"strategy.pipeline.stages", parallel_.pipeline.stages}};
    std::int64_t product = 1;
    std::vector<Degree> over_one;
    for (const Degree& degree : all) {
      product *= degree.value;
      if (degree.value > 1) over_one.push_back(degree);
    }
    if (gpus_ % product != 0) {
      if (over_one.size() == 1) {
        note(over_one.front().key,
             fmt::format("a {} degree of {} does not divide the {} GPUs of the cluster; write {}",
                         word(over_one.front().key), product, gpus_, divisors_beside(gpus_, product)));
      } else {
        note(over_one.front().key, fmt::format("{} = {} GPUs for one copy of the model do not divide the {} of the "
                                               "cluster; change one of them, or 'cluster.gpus' to {}",
                                               factors(over_one), product, gpus_, multiples_beside(gpus_, product)));
      }
      return std::nullopt;
    }
    const std::int64_t left = gpus_ / product;
    if (parallel_.data != 0 && parallel_.data != left) {
      over_one.insert(over_one.begin(), {"strategy.data", parallel_.data});
      const std::string text = over_one.size() == 1
                                   ? std::to_string(parallel_.data)
                                   : fmt::format("{} = {}", factors(over_one), parallel_.data * product);
      note("strategy.data", fmt::format("degrees multiply to {}, and the cluster uses {} GPUs; write 'data: auto' or "
                                        "'data: {}'",
                                        text, gpus_, left));
      return std::nullopt;
    }
    if (left % parallel_.expert.degree != 0) {
      note(
          "strategy.expert",
          fmt::format("an expert degree of {} does not divide the copies of the model, of which there are {}; write {}",
                      parallel_.expert.degree, left, divisors_beside(left, parallel_.expert.degree)));
      return std::nullopt;
    }
    return left;
  }

 private:
  void note(std::string_view key, std::string text) { reading_.note(reading_.place_of(key), std::move(text)); }

  /// "model" of "strategy.model.degree".
  static std::string word(std::string_view key) {
    key.remove_prefix(std::string_view("strategy.").size());
    return std::string(key.substr(0, key.find('.')));
  }

  static std::string factors(const std::vector<Degree>& degrees) {
    std::vector<std::int64_t> values;
    for (const Degree& degree : degrees) values.push_back(degree.value);
    return fmt::format("{}", fmt::join(values, " x "));
  }

  void updates_after_sub_batches() {
    const ModelSplitConfig& model = parallel_.model;
    if (!model.update_each) return;
    if (model.degree < 2 || model.sub_batch == 0) {
      note("strategy.model.update_each",
           "there are no sub-batches to update after; write 'sub_batch: 128' and a degree above 1, or leave it out");
    } else if (gpus_ > model.degree) {
      note("strategy.model.update_each",
           fmt::format("copies of split layers sum their gradients once a step; write 'degree: {}' or leave it out",
                       gpus_));
    }
    if (parallel_.offload_optimizer) {
      note("strategy.model.update_each",
           "the host updates once a step; leave 'update_each' or 'offload_optimizer' out");
    }
  }

  const Job& job_;
  const ParallelConfig& parallel_;
  std::int64_t gpus_;
  bool unlike_;  ///< GPUs of several kinds
  Reading& reading_;
};

void check_independent(const Scenario& scenario, Reading& reading) {
  const ParallelConfig& parallel = scenario.job.parallel;
  if (parallel.model.degree > 1) {
    reading.note(reading.place_of("strategy.model"), "independent jobs share no layers; leave 'model' at 1");
  }
  if (parallel.data > 1) {
    reading.note(reading.place_of("strategy.data"), "independent jobs are no replicas; leave 'data' out");
  }
  const std::pair<std::string_view, int> degrees[] = {{"strategy.tensor", parallel.tensor.degree},
                                                      {"strategy.context", parallel.context.degree},
                                                      {"strategy.expert", parallel.expert.degree},
                                                      {"strategy.pipeline.stages", parallel.pipeline.stages},
                                                      {"strategy.zero", parallel.shard.stage + 1}};
  for (const auto& [key, degree] : degrees) {
    if (degree > 1) reading.note(reading.place_of(key), "independent jobs divide nothing; leave it out");
  }
  if (parallel.batch_split == BatchSplit::proportional) {
    reading.note(reading.place_of("strategy.batch_split"), "independent jobs share no batch; leave 'batch_split' out");
  }
  if (!scenario.job.batch.per_gpu) {
    reading.note(reading.place_of("workload.batch"),
                 fmt::format("independent jobs share no batch; write '{} per gpu'", scenario.job.batch.samples));
  }
  if (parallel.exchange.codec != CodecKind::none) {
    reading.note(reading.place_of("strategy.exchange.codec"), "independent jobs exchange nothing; leave the codec out");
  }
}

}  // namespace

void check_strategy(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  StrategyChecks checks(scenario, reading);
  if (sound.strategy && sound.workload && scenario.job.parallel.independent) {
    check_independent(scenario, reading);
  } else if (sound.cluster && sound.strategy) {
    checks.together();
    const std::optional<std::int64_t> replicas = checks.degrees();
    if (replicas && sound.workload) check_batch(scenario, *replicas, reading);
  }
  if (sound.workload && sound.strategy) check_layers(scenario, reading);
}

}  // namespace gpuscale
