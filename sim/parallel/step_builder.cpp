#include "parallel/step_builder.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "collective/all_reduce.hpp"
#include "units/check.hpp"
#include "units/sort_unique.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

std::vector<Members> groups_of_kind(const RankGrid& grid, GroupKind kind, int shard) {
  using enum RankAxis;
  const std::vector<Members> copies = grid.groups({context, data});
  switch (kind) {
    case GroupKind::tensor:
      return grid.groups({tensor});
    case GroupKind::context:
      return grid.groups({context});
    case GroupKind::expert:
      return runs_of(grid.groups({data}), static_cast<std::size_t>(grid.expert));
    case GroupKind::copies:
      return copies;
    case GroupKind::copies_of_whole:
      return grid.groups({tensor, context, data});
    case GroupKind::shard:
      return runs_of(copies, static_cast<std::size_t>(shard));
    case GroupKind::shard_copies:
      return across_runs(copies, static_cast<std::size_t>(shard));
    case GroupKind::everyone:
      return grid.groups({tensor, context, data, pipeline});
    case GroupKind::itself:
      return groups_by(static_cast<std::size_t>(grid.size()), [](std::size_t rank) { return rank; });
    case GroupKind::expert_copies:
      break;
  }
  return groups_by(static_cast<std::size_t>(grid.size()), [&](std::size_t rank) {
    const auto data_place = static_cast<std::size_t>(grid.place(rank, data));
    const std::size_t of_expert = data_place % static_cast<std::size_t>(grid.expert);
    std::size_t first = rank - (data_place - of_expert) * grid.stride(data);
    first -= static_cast<std::size_t>(grid.place(rank, context)) * grid.stride(context);
    return first;
  });
}

}  // namespace

GroupSetId StepBuilder::groups(GroupKind kind, int stage) {
  const std::vector<int> key = {static_cast<int>(kind), stage};
  const auto found = sets.find(key);
  if (found != sets.end()) return found->second;
  std::vector<Members> groups = groups_of_kind(grid, kind, shard);
  if (kind != GroupKind::everyone) {
    std::erase_if(groups,
                  [&](const Members& members) { return grid.place(members.front(), RankAxis::pipeline) != stage; });
  }
  return sets.emplace(key, exchanges.add_groups(std::move(groups))).first->second;
}

GroupSetId StepBuilder::across_stages(const std::vector<int>& stages) {
  constexpr int kNoKind = -1;
  std::vector<int> key = {kNoKind};
  key.insert(key.end(), stages.begin(), stages.end());
  const auto found = sets.find(key);
  if (found != sets.end()) return found->second;
  std::vector<Members> groups;
  for (const Members& column : grid.groups({RankAxis::pipeline})) {
    Members& group = groups.emplace_back();
    for (const int stage : stages) group.push_back(column[static_cast<std::size_t>(stage)]);
  }
  return sets.emplace(key, exchanges.add_groups(std::move(groups))).first->second;
}

std::size_t StepBuilder::group_size(GroupKind kind) const {
  const auto found = group_sizes.find(kind);
  if (found != group_sizes.end()) return found->second;
  return group_sizes.emplace(kind, groups_of_kind(grid, kind, shard).front().size()).first->second;
}

std::vector<std::pair<Members, RankGroup>> StepBuilder::unfolded_groups(GroupKind kind, int stage) {
  check(roles.size() == cluster.ranks.size(), "whole tensors are summed by ranks, not by roles");
  const PlanTimer timer = exchanges.example(groups(kind, stage)).timer();
  std::vector<std::pair<Members, RankGroup>> unfolded;
  for (const Members& members : groups_of_kind(grid, kind, shard)) {
    if (kind != GroupKind::everyone && grid.place(members.front(), RankAxis::pipeline) != stage) continue;
    std::vector<Participant> participants;
    for (const std::size_t rank : members) participants.push_back(roles[rank].self);
    unfolded.emplace_back(members,
                          RankGroup(cluster.topology, std::move(participants), job.framework.transport, timer));
  }
  return unfolded;
}

std::vector<std::size_t> StepBuilder::roles_of(int stage) const {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i].stage == stage) numbers.push_back(i);
  }
  return numbers;
}

std::set<std::size_t> StepBuilder::kinds_of(int stage) const {
  std::set<std::size_t> found;
  for (const Role& role : roles) {
    if (role.stage == stage) found.insert(role.kind);
  }
  return found;
}

RankTasks StepBuilder::last() const {
  RankTasks tasks;
  for (const Role& role : roles) tasks.push_back(role.last);
  return tasks;
}

RankTasks StepBuilder::collective(GroupSetId set, Collective what, ExchangeAlgorithm algorithm,
                                  const Exchange& exchange, const RankTasks& ready) {
  const std::string key = fmt::format("{} {} {} {} {} {}", name(what), name(algorithm), exchange.size.count(),
                                      static_cast<int>(exchange.codec), exchange.label, exchange.values);
  return exchanges.add(
      plan, set, key,
      [&](PlanBuilder& to, const RankGroup& group, const RankTasks& members) {
        return add_collective(to, group, what, algorithm, exchange, members);
      },
      ready);
}

Exchange StepBuilder::exchange_of(Bytes size, std::string_view what, CodecKind codec) {
  Exchange exchange;
  exchange.size = size;
  exchange.values = size / activation_size(job.precision);
  exchange.codec = codec;
  exchange.call = job.framework.exchange.call;
  exchange.fidelity = job.parallel.exchange.fidelity;
  exchange.label = plan.label(fmt::format("{} exchange", what));
  exchange.codec_label = plan.label(fmt::format("{} codec", what));
  return exchange;
}

void StepBuilder::note_sent(std::string_view purpose, int stage, const Exchange& exchange, double share) {
  note_sent(purpose, stage, encoded_size(codec(exchange.codec), exchange.values, exchange.size), exchange.size, share);
}

void StepBuilder::note_sent(std::string_view purpose, int stage, Bytes encoded, Bytes plain, double share) {
  std::vector<SentBytes>& sent = result.sent;
  auto entry = std::ranges::find_if(
      sent, [&](const SentBytes& other) { return other.purpose == purpose && other.stage == stage; });
  if (entry == sent.end()) entry = sent.insert(sent.end(), {.purpose = std::string(purpose), .stage = stage});
  entry->encoded += encoded * share;
  entry->plain += plain * share;
}

TaskId add_layer_work(StepBuilder& step, const Role& role, Seconds host, Seconds compute, std::uint32_t label,
                      TaskId after) {
  const TaskId issued =
      host.count() > 0
          ? step.plan.add(
                Work{.activity = Activity::host, .lane = role.host, .duration = host * role.host_pace, .label = label},
                {role.begun, role.hosts_itself ? after : TaskId()})
          : TaskId();
  return step.plan.add(
      Work{.activity = Activity::compute, .lane = role.self.compute, .duration = compute, .label = label},
      {issued, after});
}

bool updates_on_server(const Job& job) {
  if (algorithm_in_force(job) != ExchangeAlgorithm::parameter_server_cpu) return false;
  return job.framework.optimizer_on_server || job.parallel.asynchronous;
}

std::optional<BoxServers> box_servers_of(const StepBuilder& step) {
  const bool served = is_server(algorithm_in_force(step.job)) && !step.job.parallel.asynchronous;
  return served && boxes_in_use(step) > 1 ? step.job.framework.exchange.servers : std::nullopt;
}

std::size_t boxes_in_use(const StepBuilder& step) {
  std::vector<int> boxes;
  for (const DeviceId rank : step.cluster.ranks) boxes.push_back(step.cluster.topology.device(rank).node);
  sort_unique(boxes);
  return boxes.size();
}

double server_passes(Optimizer optimizer) { return update_traffic(optimizer, Precision::fp32, false) / Bytes(12); }

bool updates_on_owner(const StepBuilder& step) {
  return algorithm_in_force(step.job) == ExchangeAlgorithm::parameter_server_gpu &&
         step.job.framework.optimizer_on_server && step.grid.size() > 1 && !step.job.parallel.independent;
}

bool reads_when_needed(const StepBuilder& step) {
  const ParallelConfig& parallel = step.job.parallel;
  const bool plain = parallel.pipeline.stages == 1 && parallel.model.degree == 1 && parallel.average_every == 1 &&
                     !parallel.exchange.delayed && parallel.shard.stage == 0;
  return updates_on_owner(step) && schedule_in_force(step.job) == ExchangeSchedule::fifo && plain;
}

ExchangeAlgorithm algorithm_in_force(const Job& job) {
  const ExchangeAlgorithm asked = job.parallel.exchange.algorithm;
  if (job.parallel.asynchronous) return ExchangeAlgorithm::parameter_server_cpu;
  return asked == ExchangeAlgorithm::automatic ? job.framework.exchange.algorithm : asked;
}

ExchangeSchedule schedule_in_force(const Job& job) {
  return job.parallel.exchange.schedule.value_or(job.framework.exchange.schedule);
}

double share_sent(Collective what, double ranks) {
  const double others = (ranks - 1.0) / ranks;
  return what == Collective::all_reduce ? 2.0 * others : others;
}

ExchangeAlgorithm sharing_algorithm(const Job& job) { return job.parallel.exchange.algorithm; }

Bytes gradient_number(const Job& job) {
  const Bytes computed = activation_size(job.precision);
  return job.framework.exchange.compact ? computed : std::max(computed, Bytes(4));
}

std::vector<std::size_t> layers_of(const StepBuilder& step, int stage) {
  std::vector<std::size_t> layers;
  for (const ModelPart& part : step.parts) {
    for (std::size_t layer = part.first; part.stage == stage && layer < part.last; ++layer) layers.push_back(layer);
  }
  return layers;
}

double parameters_of(const StepBuilder& step, int stage) {
  double count = 0;
  for (const std::size_t layer : layers_of(step, stage)) count += parameter_count(step.work.layers[layer]);
  return count;
}

}  // namespace gpuscale
