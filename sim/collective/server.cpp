#include <array>

#include "collective/all_reduce.hpp"
#include "collective/hops.hpp"

namespace gpuscale {

namespace {

/// One copy between a rank and a server, on its own pace.
TaskId add_copy(PlanBuilder& plan, const Topology& topology, DeviceId from, DeviceId to, const Exchange& exchange,
                std::vector<LaneId> slowed, TaskId ready) {
  const Hops hops = hop(topology, from, to, exchange.transport);
  Transfer transfer;
  transfer.amount = encoded_size(codec(exchange.codec), exchange.values, exchange.size);
  transfer.loads = hops.loads;
  transfer.cap = hops.cap;
  transfer.latency = exchange.call + hops.latency;
  transfer.slowed_lanes = std::move(slowed);
  transfer.slowdown = exchange.transport.interference;
  transfer.label = exchange.label;
  return plan.add(transfer, {ready});
}

TaskId add_codec_kernel(PlanBuilder& plan, const Exchange& exchange, LaneId lane, Seconds duration, TaskId after) {
  if (duration.count() <= 0) return after;
  return plan.add(Work{.activity = Activity::exchange, .lane = lane, .duration = duration, .label = exchange.codec_label},
                  {after});
}

TaskId add_encode(PlanBuilder& plan, const Exchange& exchange, const Participant& rank, TaskId after) {
  return add_codec_kernel(plan, exchange, rank.compute,
                          encode_time(codec(exchange.codec), exchange.values, rank.memory_bandwidth), after);
}

TaskId add_decode(PlanBuilder& plan, const Exchange& exchange, const Participant& rank, TaskId after, double times = 1) {
  return add_codec_kernel(plan, exchange, rank.compute,
                          decode_time(codec(exchange.codec), exchange.values * times, rank.memory_bandwidth), after);
}

}  // namespace

RankTasks add_cpu_server(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                         const Exchange& exchange, const RankTasks& ready, LaneId server_lane, double updates) {
  const DeviceId memory = topology.host_memory(ranks.front().gpu);
  RankTasks arrived;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const TaskId encoded = add_encode(plan, exchange, ranks[i], ready[i]);
    arrived.push_back(add_copy(plan, topology, ranks[i].gpu, memory, exchange, {ranks[i].compute}, encoded));
  }
  const double passes = static_cast<double>(ranks.size()) - 1.0 + updates;
  const TaskId summed = plan.add(Work{.activity = Activity::exchange,
                                      .lane = server_lane,
                                      .duration = exchange.size * passes / exchange.transport.server_rate,
                                      .label = plan.label("sum on the parameter server")},
                                 arrived);
  RankTasks done;
  for (const Participant& rank : ranks) {
    const TaskId copied = add_copy(plan, topology, memory, rank.gpu, exchange, {rank.compute}, summed);
    done.push_back(add_decode(plan, exchange, rank, copied));
  }
  return done;
}

TaskId add_reduce_to_first(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                           const Exchange& exchange, const RankTasks& ready) {
  const Participant& first = ranks.front();
  RankTasks arrived = {ready.front()};
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const TaskId encoded = add_encode(plan, exchange, ranks[i], ready[i]);
    arrived.push_back(
        add_copy(plan, topology, ranks[i].gpu, first.gpu, exchange, {ranks[i].compute, first.compute}, encoded));
  }
  const double others = static_cast<double>(ranks.size()) - 1.0;
  const TaskId decoded = add_decode(plan, exchange, first, plan.join(arrived), others);
  // Reads every copy once, writes the sum.
  return plan.add(Work{.activity = Activity::exchange,
                       .lane = first.compute,
                       .duration = exchange.size * (others + 2.0) / first.stream_bandwidth,
                       .label = plan.label("sum on the first GPU")},
                  {decoded});
}

RankTasks add_broadcast(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                        const Exchange& exchange, TaskId ready) {
  const Participant& first = ranks.front();
  RankTasks done = {ready};
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const TaskId copied =
        add_copy(plan, topology, first.gpu, ranks[i].gpu, exchange, {first.compute, ranks[i].compute}, ready);
    done.push_back(add_decode(plan, exchange, ranks[i], copied));
  }
  return done;
}

RankTasks add_tree_all_reduce(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                              const Exchange& exchange, const RankTasks& ready) {
  RankTasks holds = ready;  // per rank, the task after which it holds the sum of its subtree, later of all
  std::size_t reach = 1;
  for (; reach < ranks.size(); reach *= 2) {
    for (std::size_t parent = 0; parent + reach < ranks.size(); parent += 2 * reach) {
      const std::array pair = {ranks[parent], ranks[parent + reach]};
      holds[parent] = add_reduce_to_first(plan, topology, pair, exchange, {holds[parent], holds[parent + reach]});
    }
  }
  for (reach /= 2; reach > 0; reach /= 2) {
    for (std::size_t parent = 0; parent + reach < ranks.size(); parent += 2 * reach) {
      const std::array pair = {ranks[parent], ranks[parent + reach]};
      const TaskId encoded = add_encode(plan, exchange, ranks[parent], holds[parent]);
      holds[parent + reach] = add_broadcast(plan, topology, pair, exchange, encoded).back();
      holds[parent] = holds[parent + reach];  // a rank serves one child at a time
    }
  }
  return holds;
}

RankTasks add_gpu_server(PlanBuilder& plan, const Topology& topology, std::span<const Participant> ranks,
                         const Exchange& exchange, const RankTasks& ready) {
  const TaskId summed = add_reduce_to_first(plan, topology, ranks, exchange, ready);
  return add_broadcast(plan, topology, ranks, exchange, add_encode(plan, exchange, ranks.front(), summed));
}

}  // namespace gpuscale
