#include "study/candidates.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "memory/footprint.hpp"
#include "parallel/build_plan.hpp"
#include "parallel/stages.hpp"
#include "study/strategies.hpp"
#include "topology/cards.hpp"
#include "units/quantity_text.hpp"
#include "workload/lower.hpp"
#include "workload/optimizer.hpp"

namespace gpuscale {

namespace {

/// One way: degrees, and what is shared out among the copies.
struct Way {
  int tensor = 1;
  int stages = 1;
  int zero = 0;
  bool within_node = false;
};

std::string name_of(const Way& way) {
  std::string name;
  const auto add = [&](const std::string& word) { name += (name.empty() ? "" : "+") + word; };
  if (way.tensor > 1) add(fmt::format("tensor{}", way.tensor));
  if (way.stages > 1) add(fmt::format("pipeline{}", way.stages));
  if (way.zero > 0) add(fmt::format("zero{}", way.zero));
  if (way.within_node) add("node");
  return name.empty() ? "data" : name;
}

/// Bytes a parameter takes on a GPU: what ZeRO-1 shares out, and the rest.
struct StateBytes {
  Bytes shared;
  Bytes kept;
};

StateBytes state_bytes(const Job& job) {
  StateBytes bytes{.shared = state_size(job.optimizer, job.precision), .kept = activation_size(job.precision)};
  if (has_master_weights(job.precision)) bytes.shared += Bytes(4);
  bytes.kept += job.framework.gradients_fp32 ? Bytes(4) : activation_size(job.precision);
  return bytes;
}

bool one_gpu_trains(const Job& job, const Gpu& gpu) {
  const ModelWork work = rank_work(job, RankGrid{}, 1);
  const MemoryOptions options{.precision = job.precision,
                              .optimizer = job.optimizer,
                              .gradients_fp32 = job.framework.gradients_fp32,
                              .framework = job.framework.base_memory};
  return footprint(work, {{.first = 0, .last = work.layers.size()}}, options).total() <= gpu.memory_size;
}

class CandidateList {
 public:
  CandidateList(const ScenarioFile& file, const Library& library, const std::vector<Setting>& common,
                const Scenario& asked)
      : file_(file), library_(library), common_(common), asked_(asked), bytes_(state_bytes(asked.job)) {
    const ModelWork work = rank_work(asked.job, RankGrid{}, 1);
    parameters_ = parameter_count(work);
    blocks_ = static_cast<int>(block_count(work));
  }

  void add_all() {
    const int gpus = asked_.cluster.gpus;
    const int in_box = std::max(1, gpus / asked_.cluster.nodes);
    for (int tensor = 1; tensor <= in_box; tensor *= 2) {
      for (int stages = 1; stages <= blocks_ && tensor * stages <= gpus; ++stages) {
        if (blocks_ % stages == 0 && gpus % (tensor * stages) == 0) add_fitting({.tensor = tensor, .stages = stages});
      }
    }
    add({.zero = 3});
    if (asked_.cluster.nodes > 1) add({.zero = 3, .within_node = true});
    if (in_box > 1 && in_box < gpus) add({.tensor = in_box, .zero = 3});
  }

  Candidates take() {
    Candidates candidates{.scenarios = std::move(scenarios_), .notes = {}};
    std::size_t left_out = 0;
    for (const auto& [reason, count] : left_out_) left_out += count;
    candidates.notes.push_back(
        fmt::format("{} way{} to split the model tried, those with stages in microbatches of {} sample{}; {} left out",
                    candidates.scenarios.size(), candidates.scenarios.size() == 1 ? "" : "s", microbatch(),
                    microbatch() == 1 ? "" : "s", left_out));
    for (const auto& [reason, count] : left_out_)
      candidates.notes.push_back(fmt::format("{} of them: {}", count, reason));
    return candidates;
  }

 private:
  /// As it is, or with the optimizer's state shared out, where the state would fit.
  void add_fitting(Way way) {
    const double parameters = parameters_ / (way.tensor * way.stages);
    const int copies = asked_.cluster.gpus / (way.tensor * way.stages);
    const Bytes capacity = least_memory(asked_.cluster);
    if ((bytes_.kept + bytes_.shared) * parameters <= capacity) return add(way);
    way.zero = 1;
    if (copies > 1 && (bytes_.kept + bytes_.shared / copies) * parameters <= capacity) return add(way);
    ++left_out_["weights, gradients and optimizer state alone are more than a card has"];
  }

  void add(const Way& way) {
    try {
      std::vector<Setting> settings = common_;
      for (Setting& setting : settings_of(way)) settings.push_back(std::move(setting));
      scenarios_.push_back({name_of(way), file_.resolve(library_, settings)});
    } catch (const UnfitScenario& error) {
      ++left_out_[error.problems().front().text];
    }
  }

  /// Samples of a microbatch: those of the job as written, or one.
  [[nodiscard]] std::int64_t microbatch() const {
    const PipelineConfig& pipeline = asked_.job.parallel.pipeline;
    if (pipeline.micro_batch > 0) return pipeline.micro_batch;
    if (pipeline.microbatches == 1) return 1;
    const RankGrid grid = rank_grid(asked_.job.parallel, asked_.cluster.gpus);
    return std::max<std::int64_t>(1, batch_sizes(asked_.job, grid).replica / pipeline.microbatches);
  }

  [[nodiscard]] std::vector<Setting> settings_of(const Way& way) const {
    const std::string name = name_of(way);
    std::vector<Setting> settings = strategy_settings(name, asked_.cluster.gpus);
    const auto set = [&](std::string path, std::string value) {
      settings.push_back({std::move(path), std::move(value), settings.front().origin});
    };
    if (way.zero < 3) {
      set("strategy.pipeline", fmt::format("{{stages: {}, micro_batch: {}}}", way.stages, microbatch()));
    }
    if (way.tensor > 1 && asked_.job.parallel.tensor.sequence_parallel)
      set("strategy.tensor", fmt::format("{{degree: {}, sequence_parallel: true}}", way.tensor));
    return settings;
  }

  const ScenarioFile& file_;
  const Library& library_;
  const std::vector<Setting>& common_;
  const Scenario& asked_;
  StateBytes bytes_;
  double parameters_ = 0;
  int blocks_ = 1;
  std::vector<NamedScenario> scenarios_ = {};
  std::map<std::string, std::size_t> left_out_ = {};  ///< by reason
};

/// The scenario, which may be unfit as long as no strategy is chosen.
Scenario as_written(const ScenarioFile& file, const Library& library, const std::vector<Setting>& settings,
                    bool& runs) {
  try {
    runs = true;
    return file.resolve(library, settings);
  } catch (const UnfitScenario& error) {
    runs = false;
    return error.scenario();
  }
}

}  // namespace

std::optional<Candidates> large_model_candidates(const ScenarioFile& file, const Library& library,
                                                 const std::vector<Setting>& settings) {
  bool runs = false;
  Scenario asked = as_written(file, library, settings, runs);
  const bool large = !asked.job.transfer && asked.job.model.family == "transformer" && asked.cluster.gpus > 1 &&
                     !one_gpu_trains(asked.job, asked.cluster.gpu);
  if (!large) return std::nullopt;
  CandidateList list(file, library, settings, asked);
  list.add_all();
  Candidates candidates = list.take();
  if (runs) candidates.scenarios.insert(candidates.scenarios.begin(), {"as written", std::move(asked)});
  return candidates;
}

}  // namespace gpuscale
