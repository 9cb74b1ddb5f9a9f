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
  const std::size_t gpus = step_.cluster.ranks.size() / static_cast<std::size_t>(step_.spec.nodes);
  assign_owners(pieces, rule, std::max<std::size_t>(1, gpus));
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].key = pieces.size() - 1 - i;
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
      tensor.servers = {bucket.key % group.servers.size()};  // as evenly as MXNet's hash of keys
    }
    RankTasks in_memory;
    for (Box& box : group.boxes) in_memory.push_back(add_box_sum(box, tensor, ready));
    const TaskId back = add_round(group, tensor, step_.plan.join(in_memory));
    for (const Box& box : group.boxes) add_hand_out(box, tensor, back, done);
  }
  return done;
}

std::vector<NodeServers::Group>& NodeServers::groups(GroupKind kind, int stage) {
  const auto found = groups_.find({kind, stage});
  if (found != groups_.end()) return found->second;
  std::vector<Group> result;
  for (const auto& [members, group] : step_.unfolded_groups(kind, stage)) {
    Group& added = result.emplace_back();
    for (const std::vector<std::size_t>& node : group.nodes()) {
      Box& box = added.boxes.emplace_back();
      for (const std::size_t i : node) {
        box.ranks.push_back(members[i]);
        box.gpus.push_back(group.ranks()[i]);
      }
      const DeviceId gpu = box.gpus.front().gpu;
      box.memory = group.topology().host_memory(gpu);
      box.processor = step_.server_lanes[static_cast<std::size_t>(group.topology().device(gpu).node)];
    }
    const auto nodes = static_cast<std::size_t>(step_.spec.nodes);
    for (std::size_t server = 0; server < added.boxes.size() * static_cast<std::size_t>(rule_.per_box); ++server) {
      const DeviceId gpu = added.boxes[server % added.boxes.size()].gpus.front().gpu;
      const auto node = static_cast<std::size_t>(group.topology().device(gpu).node);
      added.servers.push_back(step_.server_lanes[nodes * (1 + server / added.boxes.size()) + node]);
    }
  }
  return groups_.emplace(std::pair(kind, stage), std::move(result)).first->second;
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

/// \returns when the sum of the box is in its host memory
TaskId NodeServers::add_box_sum(Box& box, const Tensor& tensor, const RankTasks& ready) {
  const Exchange& exchange = tensor.exchange;
  const double others = static_cast<double>(box.gpus.size()) - 1.0;
  RankTasks begin;
  for (const std::size_t rank : box.ranks) begin.push_back(ready[rank]);
  if (rule_.in_turn) begin.push_back(box.turn);
  TaskId there = step_.plan.join(begin);
  if (on_gpus_) {
    const Participant& owner = box.gpus[tensor.owner % box.gpus.size()];
    std::vector<Leg> legs;
    for (const Participant& rank : box.gpus) {
      if (rank.gpu != owner.gpu) legs.push_back({rank.gpu, owner.gpu});
    }
    there = add_copies(legs, tensor, exchange.size, box.gpus, Seconds(), there);
    there = step_.plan.add(Work{.activity = Activity::exchange,
                                .lane = owner.compute,
                                .duration = exchange.size * (others + 2.0) / owner.stream_bandwidth,
                                .label = step_.plan.label("sum on the tensor's GPU")},
                           {there});
    there = add_encode(tensor, owner, there);
    there = add_copies({{owner.gpu, box.memory}}, tensor, tensor.encoded, std::array{owner}, Seconds(), there);
  } else {
    std::vector<Leg> legs;
    RankTasks encoded;
    for (const Participant& rank : box.gpus) {
      legs.push_back({rank.gpu, box.memory});
      encoded.push_back(add_encode(tensor, rank, there));
    }
    there = add_copies(legs, tensor, tensor.encoded, box.gpus, Seconds(), step_.plan.join(encoded));
    there = step_.plan.add(Work{.activity = Activity::exchange,
                                .lane = box.processor,
                                .duration = exchange.size * others / step_.job.framework.transport.server_rate,
                                .label = step_.plan.label("sum of the box on its CPU")},
                           {there});
  }
  box.turn = there;
  return there;
}

TaskId NodeServers::add_round(const Group& group, const Tensor& tensor, TaskId in_memory) {
  const Exchange& exchange = tensor.exchange;
  const std::vector<Box>& boxes = group.boxes;
  const double part = 1.0 / static_cast<double>(tensor.servers.size());
  std::vector<Leg> up;
  std::vector<Leg> down;
  for (const std::size_t server : tensor.servers) {
    const std::size_t home = server % boxes.size();
    for (std::size_t box = 0; box < boxes.size(); ++box) {
      if (box == home) continue;
      up.push_back({boxes[box].memory, boxes[home].memory, part});
      down.push_back({boxes[home].memory, boxes[box].memory, part});
    }
  }
  const TaskId pushed = add_copies(up, tensor, tensor.encoded, {}, exchange.call, in_memory);
  const double updates = step_.job.framework.optimizer_on_server ? server_passes(step_.job.optimizer) : 0.0;
  const double passes = static_cast<double>(boxes.size()) - 1.0 + updates;
  RankTasks summed;
  for (const std::size_t server : tensor.servers) {
    summed.push_back(
        step_.plan.add(Work{.activity = Activity::exchange,
                            .lane = group.servers[server],
                            .duration = exchange.size * (part * passes) / step_.job.framework.transport.server_rate,
                            .label = step_.plan.label("sum on the parameter server")},
                       {pushed}));
  }
  return add_copies(down, tensor, exchange.size, {}, exchange.call, step_.plan.join(summed));
}

void NodeServers::add_hand_out(const Box& box, const Tensor& tensor, TaskId ready, RankTasks& done) {
  const Bytes size = tensor.exchange.size;
  const Participant& owner = box.gpus[tensor.owner % box.gpus.size()];
  const DeviceId from = on_gpus_ ? owner.gpu : box.memory;
  if (on_gpus_) ready = add_copies({{box.memory, owner.gpu}}, tensor, size, std::array{owner}, Seconds(), ready);
  std::vector<Leg> legs;
  for (const Participant& rank : box.gpus) {
    if (rank.gpu != from) legs.push_back({from, rank.gpu});
  }
  ready = add_copies(legs, tensor, size, box.gpus, Seconds(), ready);
  for (const std::size_t rank : box.ranks) done[rank] = ready;
}

}  // namespace gpuscale
