#include "scenario/strategy_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel/build_plan.hpp"
#include "parallel/stages.hpp"
#include "units/divisors.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// "64 or 96", the multiples of `step` beside `value`.
std::string multiples_beside(std::int64_t value, std::int64_t step) {
  const std::int64_t below = value / step * step;
  return below == 0 ? std::to_string(step) : fmt::format("{} or {}", below, below + step);
}

/// "4 or 6", the divisors of `whole` next below and next above a value that is none.
std::string divisors_beside(std::int64_t whole, std::int64_t value) {
  const auto [below, above] = nearest_divisors(whole, value);
  return above ? fmt::format("{} or {}", below, *above) : std::to_string(below);
}

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
           fmt::format("'{}' has no scattered sums, which 'zero' needs; write auto", name(algorithm)));
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

  void layers() {
    LowerOptions options;
    options.precision = job_.precision;
    const bool has_length = job_.model.input.kind == ShapeKind::tokens || job_.model.input.kind == ShapeKind::sequence;
    if (has_length) options.sequence = job_.sequence;
    if (job_.sequence && !has_length) {
      note("workload.sequence", fmt::format("the model '{}' takes {}, which has no length; leave 'sequence' out",
                                            job_.model.id, describe(job_.model.input)));
    }
    std::vector<Problem> problems;
    const ModelWork whole = lower(job_.model, options, problems);
    const bool layers_join = problems.empty();
    reading_.note(std::move(problems));
    if (!layers_join || parallel_.independent) return;
    if (parallel_.model.whole) {
      convolutions_first(whole);
    } else {
      divided("strategy.model.degree", options, &LowerOptions::model_split, parallel_.model.degree);
    }
    divided("strategy.tensor", options, &LowerOptions::tensor, parallel_.tensor.degree);
    divided("strategy.context", options, &LowerOptions::context, parallel_.context.degree);
    divided("strategy.expert", options, &LowerOptions::expert, parallel_.expert.degree);
    if (parallel_.context.degree > 1 && parallel_.context.method == ContextMethod::all_to_all) {
      LowerOptions with_heads = options;
      with_heads.tensor = parallel_.tensor.degree;
      with_heads.context_method = ContextMethod::all_to_all;
      divided("strategy.context", with_heads, &LowerOptions::context, parallel_.context.degree);
    }
    experts(whole);
    parts(whole);
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

  /// Layers that stay whole need others before them that work by samples.
  void convolutions_first(const ModelWork& work) {
    const auto first = std::ranges::find(work.layers, "linear", &LayerWork::kind);
    const bool convolves =
        std::any_of(work.layers.begin(), first, [](const LayerWork& layer) { return layer.kind == "conv"; });
    if (first != work.layers.end() && convolves) return;
    note("strategy.model.whole",
         fmt::format("the model '{}' has no convolutions before a linear layer, so every GPU would do the same; leave "
                     "'whole' out",
                     job_.model.id));
  }

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

  /// What the layers say to one kind of division.
  void divided(std::string_view key, LowerOptions options, int LowerOptions::*degree, int value) {
    if (value == 1) return;
    options.*degree = value;
    std::vector<Problem> problems;
    lower(job_.model, options, problems);
    if (problems.empty()) return;
    const Problem& first = problems.front();
    const std::string others =
        problems.size() == 1 ? "" : fmt::format(", and so in {} more layers", problems.size() - 1);
    note(key, fmt::format("{} ({}:{}{})", first.text, first.place.file, first.place.line, others));
  }

  void experts(const ModelWork& whole) {
    if (parallel_.expert.degree == 1) return;
    LowerOptions options;
    options.expert = parallel_.expert.degree;
    if (job_.sequence) options.sequence = job_.sequence;
    std::vector<Problem> problems;
    const ModelWork work = lower(job_.model, options, problems);
    const bool any = std::ranges::any_of(work.layers, [](const LayerWork& layer) {
      return std::ranges::any_of(layer.parameters, &ParameterTensor::expert);
    });
    if (problems.empty() && !any && !whole.layers.empty()) {
      note("strategy.expert",
           fmt::format("the model '{}' has no experts to divide; leave 'expert' at 1", job_.model.id));
    }
  }

  void parts(const ModelWork& whole) {
    const PipelineConfig& pipeline = parallel_.pipeline;
    const std::int64_t wanted = static_cast<std::int64_t>(pipeline.stages) * pipeline.chunks;
    const auto most = static_cast<std::int64_t>(most_parts(whole));
    if (wanted > most) {
      note("strategy.pipeline.stages",
           fmt::format(
               "the model '{}' can be cut into {} parts at most, and {} stages x {} part{} each need {}; use fewer",
               job_.model.id, most, pipeline.stages, pipeline.chunks, pipeline.chunks == 1 ? "" : "s", wanted));
      return;
    }
    if (pipeline.split.empty()) return;
    const auto blocks = static_cast<std::int64_t>(block_count(whole));
    const std::int64_t sum = std::accumulate(pipeline.split.begin(), pipeline.split.end(), std::int64_t{0});
    if (static_cast<std::int64_t>(pipeline.split.size()) != wanted || sum != blocks) {
      note("strategy.pipeline.split",
           fmt::format("'split' shares {} blocks over {} parts; the model '{}' has {} and the pipeline {}", sum,
                       pipeline.split.size(), job_.model.id, blocks, wanted));
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

void check_codecs(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  const ParallelConfig& parallel = scenario.job.parallel;
  const std::pair<std::string_view, CodecKind> activations[] = {{"strategy.model.codec", parallel.model.codec},
                                                                {"strategy.tensor.codec", parallel.tensor.codec},
                                                                {"strategy.pipeline.codec", parallel.pipeline.codec}};
  for (const auto& [key, kind] : activations) {
    if (kind != CodecKind::top_k && kind != CodecKind::low_rank) continue;
    reading.note(reading.place_of(key),
                 fmt::format("{} drops what later steps make good, and activations have no later step; write none, "
                             "fp16, bf16, int8, int4 or one_bit",
                             codec(kind).name));
  }
  ExchangeAlgorithm algorithm = parallel.exchange.algorithm;
  if (algorithm == ExchangeAlgorithm::automatic && sound.framework)
    algorithm = scenario.job.framework.exchange.algorithm;
  const CodecKind codec_kind = parallel.exchange.codec;
  const bool summed = codec(codec_kind).sum == CodecSum::in_flight;
  if (moves_whole_tensors(algorithm) && codec(codec_kind).sum == CodecSum::factors) {
    reading.note(
        reading.place_of("strategy.exchange.codec"),
        fmt::format("{} sums factors among all ranks, which {} has no sums for; write 'algorithm: ring' or auto",
                    codec(codec_kind).name, name(algorithm)));
  }
  if (parallel.exchange.delayed && (algorithm == ExchangeAlgorithm::gather || parallel.average_every > 1)) {
    reading.note(reading.place_of("strategy.exchange.delayed"),
                 algorithm == ExchangeAlgorithm::gather
                     ? "the gather exchange is a part of each step and cannot be a step late; leave 'delayed' out"
                     : "averages of parameters are not gradients of the step before; leave 'delayed' out");
  }
  if (algorithm == ExchangeAlgorithm::gather && !summed) {
    reading.note(reading.place_of("strategy.exchange.codec"),
                 fmt::format("the gather exchange sums plain numbers on one GPU and cannot decode {}; use ring, "
                             "parameter_server_cpu or parameter_server_gpu, or the codec none or fp16",
                             codec(codec_kind).name));
  }
  if (parallel.shard.stage > 0 && !summed) {
    reading.note(
        reading.place_of("strategy.exchange.codec"),
        fmt::format("sums that are scattered ('zero: {}') travel as numbers, not as {}; write 'zero: 0', or the "
                    "codec none or fp16",
                    parallel.shard.stage, codec(codec_kind).name));
  }
}

void check_strategy(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  StrategyChecks checks(scenario, reading);
  if (sound.strategy && sound.workload && scenario.job.parallel.independent) {
    check_independent(scenario, reading);
  } else if (sound.cluster && sound.strategy) {
    checks.together();
    const std::optional<std::int64_t> replicas = checks.degrees();
    if (replicas && sound.workload) checks.batch(*replicas);
  }
  if (sound.workload && sound.strategy) checks.layers();
}

}  // namespace gpuscale
