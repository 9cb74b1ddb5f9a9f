#include "parallel/node_servers.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "collective/all_reduce.hpp"
#include "collective/hops.hpp"
#include "workload/optimizer.hpp"

namespace gpuscale {

NodeServers::NodeServers(StepBuilder& step)
    : step_(step),
      rule_(box_servers_of(step).value()),
      on_gpus_(algorithm_in_force(step.job) == ExchangeAlgorithm::parameter_server_gpu) {
  const auto lanes = static_cast<std::size_t>(step.spec.nodes * (1 + rule_.per_box));  // workers first
  while (step.server_lanes.size() < lanes) {
    const bool server = step.server_lanes.size() >= static_cast<std::size_t>(step.spec.nodes);
    step.server_lanes.push_back(step.plan.add_lane(server ? "parameter server" : "worker's processor"));
  }
}

void NodeServers::arrange(std::vector<Bucket>& pieces, TensorOwner rule) {
  const std::size_t boxes = boxes_in_use(step_);
  const std::size_t workers = rule_.each_gpu ? step_.cluster.ranks.size() : boxes;
  if (rule == TensorOwner::first_gpu) {
    for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].key = pieces.size() - 1 - i;
  } else {
    assign_owners(pieces, rule, boxes * static_cast<std::size_t>(rule_.per_box));
    for (Bucket& piece : pieces) piece.key = piece.owner;
  }
  assign_owners(pieces, rule, std::max<std::size_t>(1, step_.cluster.ranks.size() / workers));
  if (rule_.in_turn) std::ranges::reverse(pieces);
}

RankTasks NodeServers::add(const Bucket& bucket, GroupKind kind, int stage, const Exchange& exchange,
                           const RankTasks& ready) {
  RankTasks done = ready;
  for (Group& group : groups(kind, stage)) {
    Tensor tensor{.exchange = exchange,
                  .owner = bucket.owner,
                  .encoded = encoded_size(codec(exchange.codec), exchange.values, exchange.size)};
    if (exchange.values >= rule_.split_from) {
      tensor.servers.resize(group.servers.size());
      std::iota(tensor.servers.begin(), tensor.servers.end(), std::size_t{0});
    } else {
      tensor.servers = {bucket.key % group.servers.size()};
    }
    RankTasks in_memory;
    for (Worker& worker : group.workers) in_memory.push_back(add_worker_sum(worker, tensor, ready));
    const TaskId back = add_round(group, tensor, step_.plan.join(in_memory));
    for (const Worker& worker : group.workers) add_hand_out(worker, tensor, back, done);
  }
  return done;
}

std::vector<NodeServers::Group>& NodeServers::groups(GroupKind kind, int stage) {
  const auto found = groups_.find({kind, stage});
  if (found != groups_.end()) return found->second;
  std::vector<Group> result;
  for (const auto& [members, group] : step_.unfolded_groups(kind, stage)) result.push_back(group_of(members, group));
  return groups_.emplace(std::pair(kind, stage), std::move(result)).first->second;
}

/// The workers of a group and the servers of their boxes, the first of every box before any second.
NodeServers::Group NodeServers::group_of(const Members& members, const RankGroup& group) const {
  Group result;
  std::vector<Server> first_servers;
  for (const std::vector<std::size_t>& box : group.nodes()) {
    const DeviceId gpu = group.ranks()[box.front()].gpu;
    const DeviceId memory = group.topology().host_memory(gpu);
    const auto node = static_cast<std::size_t>(group.topology().device(gpu).node);
    first_servers.push_back({.memory = memory, .node = node});
    for (std::size_t i = 0; i < box.size(); ++i) {
      if (i == 0 || rule_.each_gpu) result.workers.push_back({.memory = memory, .processor = step_.server_lanes[node]});
      result.workers.back().ranks.push_back(members[box[i]]);
      result.workers.back().gpus.push_back(group.ranks()[box[i]]);
    }
  }
  for (std::size_t each = 1; each <= static_cast<std::size_t>(rule_.per_box); ++each) {
    for (Server server : first_servers) {
      server.lane = step_.server_lanes[static_cast<std::size_t>(step_.spec.nodes) * each + server.node];
      result.servers.push_back(server);
    }
  }
  return result;
}

TaskId NodeServers::add_copies(const std::vector<Leg>& legs, const Tensor& tensor, Bytes amount,
                               std::span<const Participant> slowed, Seconds call, TaskId ready) {
  if (legs.empty()) return ready;
  const Transport& transport = step_.job.framework.transport;
  HopCollector collector(step_.cluster.topology, transport, Protocol::simple);
  for (const Leg& leg : legs) collector.add(leg.from, leg.to, leg.part);
  Hops hops = collector.take();
  Transfer transfer{.amount = amount,
                    .loads = std::move(hops.loads),
                    .cap = hops.cap,
                    .latency = call + hops.latency,
                    .slowdown = transport.interference,
                    .label = tensor.exchange.label};
  for (const Participant& rank : slowed) transfer.slowed_lanes.push_back(rank.compute);
  return step_.plan.add(transfer, {ready});
}

TaskId NodeServers::add_encode(const Tensor& tensor, const Participant& gpu, TaskId ready) {
  const Exchange& exchange = tensor.exchange;
  const Seconds time = encode_time(codec(exchange.codec), exchange.values, gpu.memory_bandwidth);
  if (time.count() <= 0) return ready;
  return step_.plan.add(
      Work{.activity = Activity::exchange, .lane = gpu.compute, .duration = time, .label = exchange.codec_label},
      {ready});
}

/// \returns when the sum of the worker is in its host memory
TaskId NodeServers::add_worker_sum(Worker& worker, const Tensor& tensor, const RankTasks& ready) {
  RankTasks begin;
  for (const std::size_t rank : worker.ranks) begin.push_back(ready[rank]);
  if (rule_.in_turn) begin.push_back(worker.turn);
  const TaskId all = step_.plan.join(begin);
  worker.turn = on_gpus_ ? add_sum_on_gpu(worker, tensor, all) : add_sum_on_processor(worker, tensor, all);
  return worker.turn;
}

TaskId NodeServers::add_sum_on_gpu(const Worker& worker, const Tensor& tensor, TaskId ready) {
  const Exchange& exchange = tensor.exchange;
  const Participant& owner = worker.gpus[tensor.owner % worker.gpus.size()];
  std::vector<Leg> legs;
  for (const Participant& rank : worker.gpus) {
    if (rank.gpu != owner.gpu) legs.push_back({rank.gpu, owner.gpu});
  }
  if (!legs.empty()) {
    const double passes = static_cast<double>(legs.size()) + 2.0;  // reads every copy, writes the sum
    ready = add_copies(legs, tensor, exchange.size, worker.gpus, Seconds(), ready);
    ready = step_.plan.add(Work{.activity = Activity::exchange,
                                .lane = owner.compute,
                                .duration = exchange.size * passes / owner.stream_bandwidth,
                                .label = step_.plan.label("sum on the tensor's GPU")},
                           {ready});
  }
  ready = add_encode(tensor, owner, ready);
  return add_copies({{owner.gpu, worker.memory}}, tensor, tensor.encoded, std::array{owner}, Seconds(), ready);
}

TaskId NodeServers::add_sum_on_processor(const Worker& worker, const Tensor& tensor, TaskId ready) {
  std::vector<Leg> legs;
  RankTasks encoded;
  for (const Participant& rank : worker.gpus) {
    legs.push_back({rank.gpu, worker.memory});
    encoded.push_back(add_encode(tensor, rank, ready));
  }
  ready = add_copies(legs, tensor, tensor.encoded, worker.gpus, Seconds(), step_.plan.join(encoded));
  if (worker.gpus.size() < 2) return ready;
  const double others = static_cast<double>(worker.gpus.size()) - 1.0;
  return step_.plan.add(Work{.activity = Activity::exchange,
                             .lane = worker.processor,
                             .duration = tensor.exchange.size * others / step_.job.framework.transport.server_rate,
                             .label = step_.plan.label("sum of the box on its CPU")},
                        {ready});
}

Seconds NodeServers::message_time(const Group& group, const Tensor& tensor, Bytes amount) const {
  if (!rule_.message_rate) return {};
  const double messages = static_cast<double>(group.workers.size()) / static_cast<double>(tensor.servers.size());
  return amount * messages / *rule_.message_rate;
}

TaskId NodeServers::add_round(const Group& group, const Tensor& tensor, TaskId in_memory) {
  const Exchange& exchange = tensor.exchange;
  const double part = 1.0 / static_cast<double>(tensor.servers.size());
  std::vector<Leg> up;
  std::vector<Leg> down;
  for (const std::size_t which : tensor.servers) {
    const Server& server = group.servers[which];
    for (const Worker& worker : group.workers) {
      if (worker.memory == server.memory) continue;
      up.push_back({worker.memory, server.memory, part});
      down.push_back({server.memory, worker.memory, part});
    }
  }
  const auto add_to_server = [&](const Server& server, Seconds duration, std::string_view label, TaskId ready) {
    if (duration.count() <= 0) return ready;
    return step_.plan.add(Work{.activity = Activity::exchange,
                               .lane = server.lane,
                               .duration = duration,
                               .label = step_.plan.label(label)},
                          {ready});
  };
  constexpr std::string_view kMessages = "messages of the parameter server";
  const double updates = step_.job.framework.optimizer_on_server ? server_passes(step_.job.optimizer) : 0.0;
  const double passes = static_cast<double>(group.workers.size()) - 1.0 + updates;
  // Messages travel while they are packed and unpacked.
  const TaskId pushed = add_copies(up, tensor, tensor.encoded, {}, exchange.call, in_memory);
  RankTasks summed;
  RankTasks sent;
  for (const std::size_t which : tensor.servers) {
    const Server& server = group.servers[which];
    const TaskId unpacked = add_to_server(server, message_time(group, tensor, tensor.encoded), kMessages, in_memory);
    summed.push_back(add_to_server(server, exchange.size * (part * passes) / step_.job.framework.transport.server_rate,
                                   "sum on the parameter server", step_.plan.join(std::array{pushed, unpacked})));
    sent.push_back(add_to_server(server, message_time(group, tensor, exchange.size), kMessages, summed.back()));
  }
  sent.push_back(add_copies(down, tensor, exchange.size, {}, exchange.call, step_.plan.join(summed)));
  return step_.plan.join(sent);
}

void NodeServers::add_hand_out(const Worker& worker, const Tensor& tensor, TaskId ready, RankTasks& done) {
  const Bytes size = tensor.exchange.size;
  const Participant& owner = worker.gpus[tensor.owner % worker.gpus.size()];
  const DeviceId from = on_gpus_ ? owner.gpu : worker.memory;
  if (on_gpus_) ready = add_copies({{worker.memory, owner.gpu}}, tensor, size, std::array{owner}, Seconds(), ready);
  std::vector<Leg> legs;
  for (const Participant& rank : worker.gpus) {
    if (rank.gpu != from) legs.push_back({from, rank.gpu});
  }
  ready = add_copies(legs, tensor, size, worker.gpus, Seconds(), ready);
  for (const std::size_t rank : worker.ranks) done[rank] = ready;
}

}  // namespace gpuscale
