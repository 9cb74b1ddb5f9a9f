#include "scenario/layer_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/build_plan.hpp"
#include "parallel/stages.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

class LayerChecks {
 public:
  LayerChecks(const Scenario& scenario, Reading& reading)
      : job_(scenario.job), parallel_(scenario.job.parallel), reading_(reading) {}

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
           fmt::format("'split' shares {} blocks over {} parts; the model '{}' has {} and the pipeline {}; write {} "
                       "numbers that add up to {}, or leave it out",
                       sum, pipeline.split.size(), job_.model.id, blocks, wanted, wanted, blocks));
    }
  }

  void note(std::string_view key, std::string text) { reading_.note(reading_.place_of(key), std::move(text)); }

  const Job& job_;
  const ParallelConfig& parallel_;
  Reading& reading_;
};

}  // namespace

void check_layers(const Scenario& scenario, Reading& reading) { LayerChecks(scenario, reading).layers(); }

}  // namespace gpuscale
