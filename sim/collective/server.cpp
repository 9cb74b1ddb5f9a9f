#include <array>

#include "collective/all_reduce.hpp"
#include "collective/hops.hpp"

namespace gpuscale {

namespace {

/// One copy between a rank and a server, on its own pace.
TaskId add_copy(PlanBuilder& plan, const RankGroup& group, DeviceId from, DeviceId to, const Exchange& exchange,
                std::vector<LaneId> slowed, TaskId ready) {
  const Hops hops = hop(group.topology(), from, to, group.transport());
  Transfer transfer;
  transfer.amount = encoded_size(codec(exchange.codec), exchange.values, exchange.size);
  transfer.loads = hops.loads;
  transfer.cap = hops.cap;
  transfer.latency = exchange.call + hops.latency;
  transfer.slowed_lanes = std::move(slowed);
  transfer.slowdown = group.transport().interference;
  transfer.label = exchange.label;
  return plan.add(transfer, {ready});
}

TaskId add_codec_kernel(PlanBuilder& plan, const Exchange& exchange, LaneId lane, Seconds duration, TaskId after) {
  if (duration.count() <= 0) return after;
  return plan.add(
      Work{.activity = Activity::exchange, .lane = lane, .duration = duration, .label = exchange.codec_label}, {after});
}

TaskId add_encode(PlanBuilder& plan, const Exchange& exchange, const Participant& rank, TaskId after) {
  return add_codec_kernel(plan, exchange, rank.compute,
                          encode_time(codec(exchange.codec), exchange.values, rank.memory_bandwidth), after);
}

TaskId add_decode(PlanBuilder& plan, const Exchange& exchange, const Participant& rank, TaskId after,
                  double times = 1) {
  return add_codec_kernel(plan, exchange, rank.compute,
                          decode_time(codec(exchange.codec), exchange.values * times, rank.memory_bandwidth), after);
}

/// One copy between two ranks, through the sender's door if there are doors.
TaskId add_copy_through(PlanBuilder& plan, const RankGroup& group, std::size_t from, std::size_t to,
                        const Exchange& exchange, TaskId ready, const CopyDoors& doors) {
  const Participant& sender = group.ranks()[from];
  const Participant& receiver = group.ranks()[to];
  const auto copy = [&](TaskId after) {
    return add_copy(plan, group, sender.gpu, receiver.gpu, exchange, {sender.compute, receiver.compute}, after);
  };
  if (doors.gates.empty()) return copy(ready);
  GatePass pass{.gate = doors.gates[from], .credit = 1.0, .urgency = doors.urgency};
  const TaskId copied = copy(plan.add(pass, std::array{ready}));
  pass.returns = true;
  return plan.add(pass, std::array{copied});
}

DeviceId memory_of(const RankGroup& group, const CpuServer& server) {
  return server.memory.valid() ? server.memory : group.topology().host_memory(group.ranks().front().gpu);
}

RankGroup pair_of(const RankGroup& group, std::size_t first, std::size_t second) {
  return {group.topology(), {group.ranks()[first], group.ranks()[second]}, group.transport(), group.timer()};
}

}  // namespace

RankTasks add_server_push(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                          const CpuServer& server) {
  RankTasks arrived;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const TaskId encoded = add_encode(plan, exchange, group.ranks()[i], ready[i]);
    arrived.push_back(add_copy(plan, group, group.ranks()[i].gpu, memory_of(group, server), exchange,
                               {group.ranks()[i].compute}, encoded));
  }
  const double passes = static_cast<double>(group.size()) - 1.0 + server.updates;
  const TaskId summed = plan.add(Work{.activity = Activity::exchange,
                                      .lane = server.lane,
                                      .duration = exchange.size * passes / group.transport().server_rate,
                                      .label = plan.label("sum on the parameter server")},
                                 arrived);
  return RankTasks(group.size(), summed);
}

RankTasks add_server_pull(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                          const CpuServer& server) {
  RankTasks done;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Participant& rank = group.ranks()[i];
    const TaskId copied = add_copy(plan, group, memory_of(group, server), rank.gpu, exchange, {rank.compute}, ready[i]);
    done.push_back(add_decode(plan, exchange, rank, copied));
  }
  return done;
}

RankTasks add_cpu_server(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, const RankTasks& ready,
                         const CpuServer& server) {
  return add_server_pull(plan, group, exchange, add_server_push(plan, group, exchange, ready, server), server);
}

TaskId add_sum_at(PlanBuilder& plan, const RankGroup& group, std::size_t owner, const Exchange& exchange,
                  const RankTasks& ready, const CopyDoors& doors) {
  const Participant& sums = group.ranks()[owner];
  RankTasks arrived = {ready[owner]};
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i == owner) continue;
    const Participant& rank = group.ranks()[i];
    const TaskId encoded = add_encode(plan, exchange, rank, ready[i]);
    arrived.push_back(add_copy_through(plan, group, i, owner, exchange, encoded, doors));
  }
  const double others = static_cast<double>(group.size()) - 1.0;
  const TaskId decoded = add_decode(plan, exchange, sums, plan.join(arrived), others);
  // Reads every copy once, writes the sum.
  return plan.add(Work{.activity = Activity::exchange,
                       .lane = sums.compute,
                       .duration = exchange.size * (others + 2.0) / sums.stream_bandwidth,
                       .label = plan.label(owner == 0 ? "sum on the first GPU" : "sum on the tensor's GPU")},
                  {decoded});
}

RankTasks add_broadcast_from(PlanBuilder& plan, const RankGroup& group, std::size_t owner, const Exchange& exchange,
                             TaskId ready, const CopyDoors& doors) {
  const TaskId encoded = add_encode(plan, exchange, group.ranks()[owner], ready);
  RankTasks done(group.size(), encoded);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i == owner) continue;
    const TaskId copied = add_copy_through(plan, group, owner, i, exchange, encoded, doors);
    done[i] = add_decode(plan, exchange, group.ranks()[i], copied);
  }
  return done;
}

TaskId add_reduce_to_first(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                           const RankTasks& ready) {
  return add_sum_at(plan, group, 0, exchange, ready);
}

RankTasks add_broadcast(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, TaskId ready) {
  return add_broadcast_from(plan, group, 0, exchange, ready);
}

RankTasks add_tree_all_reduce(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                              const RankTasks& ready) {
  RankTasks holds = ready;  // per rank, the task after which it holds the sum of its subtree, later of all
  std::size_t reach = 1;
  for (; reach < group.size(); reach *= 2) {
    for (std::size_t parent = 0; parent + reach < group.size(); parent += 2 * reach) {
      const RankGroup pair = pair_of(group, parent, parent + reach);
      holds[parent] = add_reduce_to_first(plan, pair, exchange, {holds[parent], holds[parent + reach]});
    }
  }
  for (reach /= 2; reach > 0; reach /= 2) {
    for (std::size_t parent = 0; parent + reach < group.size(); parent += 2 * reach) {
      const RankGroup pair = pair_of(group, parent, parent + reach);
      holds[parent + reach] = add_broadcast(plan, pair, exchange, holds[parent]).back();
      holds[parent] = holds[parent + reach];  // a rank serves one child at a time
    }
  }
  return holds;
}

}  // namespace gpuscale
