#include "study/fit_changes.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include "topology/cards.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

std::string batch_text(const BatchSpec& batch, std::int64_t samples) {
  return fmt::format("{} {}", samples, batch.per_gpu ? "per gpu" : "global");
}

void add_batches(std::vector<ChangeIdea>& ideas, const Scenario& scenario, const Report& report) {
  const BatchSpec& batch = scenario.job.batch;
  const auto add = [&](std::string_view what, std::int64_t samples) {
    const std::string text = batch_text(batch, samples);
    ideas.push_back({fmt::format("{}, {}", what, text), {{"workload.batch", text}}});
  };
  const double per_gpu = report.memory.largest_batch_per_gpu;
  const auto largest = static_cast<std::int64_t>(batch.per_gpu ? per_gpu : per_gpu * report.gpus);
  if (!report.memory.fits && largest >= 1 && largest < batch.samples) add("largest batch that fits", largest);
  if (batch.samples >= 2) add("half the batch", batch.samples / 2);
}

void add_precisions(std::vector<ChangeIdea>& ideas, const Scenario& scenario) {
  if (storage_size(scenario.job.precision) <= Bytes(2)) return;
  const ClusterSpec& cluster = scenario.cluster;
  const auto has = [&](Precision precision) {
    bool all = true;
    for (std::size_t kind = 0; kind < card_kinds(cluster); ++kind)
      all = all && (rate_at(card(cluster, kind).matrix, precision) || rate_at(card(cluster, kind).peak, precision));
    return all;
  };
  const Precision narrow = has(Precision::bf16) ? Precision::bf16 : Precision::fp16;
  const std::string word(name(narrow));
  ideas.push_back({fmt::format("16-bit numbers ({})", word), {{"workload.precision", word}}});
}

void add_optimizers(std::vector<ChangeIdea>& ideas, const Scenario& scenario) {
  const Bytes now = state_size(scenario.job.optimizer, scenario.job.precision);
  const std::string_view optimizer = kOptimizerNames[static_cast<std::size_t>(scenario.job.optimizer)];
  for (std::size_t i = 0; i < kOptimizerNames.size(); ++i) {
    const std::string_view word = kOptimizerNames[i];
    const std::string_view same = word.substr(0, word.find('_'));  // adam of adam_8bit; adamw keeps the same state
    if (!word.ends_with("8bit") || !optimizer.starts_with(same) ||
        state_size(static_cast<Optimizer>(i), scenario.job.precision) >= now)
      continue;
    ideas.push_back({fmt::format("8-bit optimizer state ({})", word), {{"workload.optimizer", std::string(word)}}});
  }
}

/// The path of a degree: the map's, or the key itself where it may be written as a number.
std::string degree_path(std::string_view key, std::string_view degree, int now) {
  return now > 1 ? fmt::format("strategy.{}.{}", key, degree) : fmt::format("strategy.{}", key);
}

void add_splits(std::vector<ChangeIdea>& ideas, const Scenario& scenario) {
  const ParallelConfig& parallel = scenario.job.parallel;
  const auto add = [&](std::string what, std::string path, std::string value) {
    ideas.push_back({std::move(what), {{std::move(path), std::move(value)}}});
  };
  const std::string more = std::to_string(2 * parallel.pipeline.microbatches);
  const bool plain = parallel.pipeline.stages == 1 && parallel.pipeline.microbatches == 1;
  add(fmt::format("{} microbatches a step", more), plain ? "strategy.pipeline" : "strategy.pipeline.microbatches",
      plain ? fmt::format("{{stages: 1, microbatches: {}}}", more) : more);
  if (parallel.recompute == Recompute::none) {
    add("recompute attention in backward", "strategy.recompute", "selective");
  }
  if (parallel.recompute != Recompute::full) add("recompute activations in backward", "strategy.recompute", "full");
  add("optimizer state on the CPU", "strategy.offload_optimizer", "true");
  if (scenario.cluster.gpus < 2) return;
  constexpr std::array<std::string_view, 3> kShared = {"optimizer state shared out (ZeRO-1)",
                                                       "state and gradients shared out (ZeRO-2)",
                                                       "state, gradients, parameters shared out (ZeRO-3)"};
  for (int stage = parallel.shard.stage + 1; stage <= 3; ++stage) {
    add(std::string(kShared[static_cast<std::size_t>(stage - 1)]), "strategy.zero", std::to_string(stage));
  }
  const int tensor = parallel.tensor.degree;
  add(fmt::format("layers divided by {} GPUs (tensor)", 2 * tensor), degree_path("tensor", "degree", tensor),
      std::to_string(2 * tensor));
  const int stages = parallel.pipeline.stages;
  if (plain) {
    add("2 stages of 4 microbatches (pipeline)", "strategy.pipeline", "{stages: 2, microbatches: 4}");
  } else {
    add(fmt::format("{} stages (pipeline)", 2 * stages), "strategy.pipeline.stages", std::to_string(2 * stages));
  }
}

/// How a card is put into a machine, as its file name tells, and whose software it needs, as its family tells: neither
/// machine nor framework takes one for another.
std::string form_of(const Gpu& gpu) {
  constexpr std::array<std::string_view, 3> kBoards = {"sxm", "gb200", "gb300"};
  constexpr std::array<std::string_view, 5> kOtherMakers = {"tpu", "intel", "cdna", "gaudi", "xeon"};
  const auto first_in = [](std::string_view text, const auto& words) {
    const auto found =
        std::ranges::find_if(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
    return found == words.end() ? std::string_view() : *found;
  };
  return fmt::format("{} {}", first_in(gpu.id, kBoards), first_in(gpu.family.id, kOtherMakers));
}

/// The scenario with one more setting; nothing if it cannot be.
std::optional<Scenario> resolved_with(const ScenarioFile& file, const Library& library, std::vector<Setting> settings,
                                      Setting more) {
  settings.push_back(std::move(more));
  try {
    return file.resolve(library, settings);
  } catch (const ScenarioError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<ChangeIdea> change_ideas(const Scenario& scenario, const Report& report) {
  std::vector<ChangeIdea> ideas;
  add_batches(ideas, scenario, report);
  add_precisions(ideas, scenario);
  add_optimizers(ideas, scenario);
  add_splits(ideas, scenario);
  return ideas;
}

std::vector<ChangeIdea> card_ideas(const ScenarioFile& file, const Library& library,
                                   const std::vector<Setting>& settings, const Scenario& scenario, Bytes needed) {
  struct Card {
    Gpu gpu;
    std::string id;
  };
  constexpr double kMayShrink = 0.9;
  constexpr double kNoPrice = std::numeric_limits<double>::infinity();
  std::vector<Card> cards;
  Bytes least = scenario.cluster.gpu.memory_size;
  for (const CardKind& kind : scenario.cluster.other_cards) least = std::min(least, kind.gpu.memory_size);
  const bool unlike = !scenario.cluster.other_cards.empty();
  for (const std::string& id : library.names("topologies/gpus")) {
    std::optional<Scenario> other = resolved_with(file, library, settings, {"cluster.gpu", id});
    if (!other || form_of(other->cluster.gpu) != form_of(scenario.cluster.gpu)) continue;
    // ISO dates stand in the order of time; a card without one is taken.
    if (!other->cluster.gpu.launched.empty() && other->cluster.gpu.launched < scenario.cluster.gpu.launched) continue;
    const Bytes size = other->cluster.gpu.memory_size;
    if (size > least && size >= needed * kMayShrink) cards.push_back({other->cluster.gpu, id});
  }
  std::ranges::sort(cards, {}, [](const Card& card) {
    const double price = card.gpu.price ? card.gpu.price->count() : kNoPrice;
    return std::tuple(card.gpu.memory_size.count(), price, card.id);
  });
  std::vector<ChangeIdea> ideas;
  for (const Card& card : cards) {
    ideas.push_back({fmt::format("a larger card{}, {} ({})", unlike ? " in every slot" : "", card.gpu.name,
                                 to_text(card.gpu.memory_size)),
                     {{"cluster.gpu", card.id}}});
  }
  return ideas;
}

}  // namespace gpuscale
