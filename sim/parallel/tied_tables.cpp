#include "parallel/tied_tables.hpp"

#include <algorithm>
#include <map>

#include "parallel/step_builder.hpp"
#include "units/check.hpp"

namespace gpuscale {

namespace {

int stage_of(std::size_t layer, std::span<const ModelPart> parts) {
  const auto part = std::ranges::find_if(parts, [&](const ModelPart& of) { return layer < of.last; });
  check(part != parts.end(), "every layer belongs to a part");
  return part->stage;
}

}  // namespace

std::vector<TiedTable> copy_tied_tables(ModelWork& work, std::span<const ModelPart> parts) {
  std::map<std::size_t, TiedTable> tables;  // by layer
  for (std::size_t user = 0; user < work.layers.size(); ++user) {
    LayerWork& layer = work.layers[user];
    if (!layer.table_of) continue;
    TiedTable& table = tables.try_emplace(*layer.table_of, TiedTable{.layer = *layer.table_of}).first->second;
    if (table.stages.empty()) table.stages.push_back(stage_of(table.layer, parts));
    const int stage = stage_of(user, parts);
    if (std::ranges::find(table.stages, stage) != table.stages.end()) continue;
    table.stages.push_back(stage);
    layer.parameters.push_back(work.layers[table.layer].parameters.front());
  }
  std::vector<TiedTable> copied;
  for (auto& [layer, table] : tables) {
    if (table.stages.size() > 1) copied.push_back(std::move(table));
  }
  return copied;
}

/// Megatron-LM's embedding group (arXiv:1909.08053; finalize_model_grads.py): whole gradients, although shares of
/// them may do where the optimizer is shared out.
void add_tied_sums(StepBuilder& step) {
  for (const TiedTable& tied : step.tied) {
    const ParameterTensor& table = step.work.layers[tied.layer].parameters.front();
    const Exchange exchange = step.exchange_of(gradient_number(step.job) * static_cast<double>(table.gradient_count),
                                               "tied", CodecKind::none);
    const RankTasks done = step.collective(step.across_stages(tied.stages), Collective::all_reduce,
                                           ExchangeAlgorithm::automatic, exchange, step.last());
    const double share = share_sent(Collective::all_reduce, static_cast<double>(tied.stages.size()));
    for (const int stage : tied.stages) {
      step.note_sent("tied", stage, exchange, share);
      for (const std::size_t role : step.roles_of(stage)) step.roles[role].last = done[role];
    }
  }
}

}  // namespace gpuscale
