#include "study/copy_rates.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>

#include "network/flow_model.hpp"

namespace gpuscale {

namespace {

std::vector<BytesPerSecond> capacities(const Topology& topology) {
  std::vector<BytesPerSecond> rates;
  rates.reserve(topology.channels().size());
  for (const Channel& channel : topology.channels()) rates.push_back(channel.rate);
  return rates;
}

/// The GPUs whose bit is set, then the others.
Halves split(std::span<const DeviceId> gpus, const std::function<bool(std::size_t)>& is_first) {
  Halves halves;
  for (std::size_t i = 0; i < gpus.size(); ++i) (is_first(i) ? halves.first : halves.second).push_back(gpus[i]);
  return halves;
}

void add_both_ways(std::vector<Copy>& copies, DeviceId a, DeviceId b) {
  copies.push_back({a, b});
  copies.push_back({b, a});
}

std::vector<Copy> copies_across(const Halves& halves, bool all_pairs) {
  std::vector<Copy> copies;
  if (all_pairs) {
    for (const DeviceId a : halves.first) {
      for (const DeviceId b : halves.second) add_both_ways(copies, a, b);
    }
  } else {
    const std::size_t pairs = std::min(halves.first.size(), halves.second.size());
    for (std::size_t i = 0; i < pairs; ++i) add_both_ways(copies, halves.first[i], halves.second[i]);
  }
  return copies;
}

BytesPerSecond slower_way(const std::vector<BytesPerSecond>& rates) {
  BytesPerSecond forth;
  BytesPerSecond back;
  for (std::size_t i = 0; i < rates.size(); i += 2) {
    forth += rates[i];
    back += rates[i + 1];
  }
  return std::min(forth, back);
}

/// Keeps the halves if they are the worst or the best so far; of equal ones the first.
void consider(Bisection& bisection, Halves halves) {
  constexpr double kSame = 1e-9;
  const bool first = bisection.tried++ == 0;
  if (first || halves.rate < bisection.worst.rate * (1.0 - kSame)) bisection.worst = halves;
  if (first || halves.rate > bisection.best.rate * (1.0 + kSame)) bisection.best = std::move(halves);
}

Bisection bisect_exhaustively(const Topology& topology, std::span<const DeviceId> gpus) {
  Bisection bisection;
  bisection.exhaustive = true;
  const auto half = static_cast<int>((gpus.size() + 1) / 2);
  const bool even = gpus.size() % 2 == 0;
  for (std::uint32_t mask = 1; mask < std::uint32_t{1} << gpus.size(); ++mask) {
    if (std::popcount(mask) != half || (even && mask % 2 == 0)) continue;  // with the first GPU in the first half
    Halves halves = split(gpus, [&](std::size_t i) { return (mask >> i & 1U) != 0; });
    halves.rate = slower_way(rates_together(topology, copies_across(halves, true)));
    consider(bisection, std::move(halves));
  }
  return bisection;
}

}  // namespace

BytesPerSecond rate_alone(const Topology& topology, const Copy& copy) {
  const std::vector<ChannelId>& channels = topology.route(copy.from, copy.to).channels;
  BytesPerSecond rate = kUncapped;
  for (const ChannelId channel : channels) {
    const auto times = static_cast<double>(std::ranges::count(channels, channel));  // it may pass one twice
    rate = std::min(rate, topology.channels()[channel.index()].rate / times);
  }
  return rate;
}

std::vector<BytesPerSecond> rates_together(const Topology& topology, std::span<const Copy> copies) {
  FlowModel flows(capacities(topology));
  std::vector<FlowId> ids;
  std::vector<ChannelLoad> loads;
  ids.reserve(copies.size());
  for (const Copy& copy : copies) {
    loads.clear();
    for (const ChannelId channel : topology.route(copy.from, copy.to).channels) loads.push_back({channel});
    ids.push_back(flows.start(Time(), loads, 1_GB, 0));
  }
  flows.settle(Time());
  std::vector<BytesPerSecond> rates;
  rates.reserve(ids.size());
  for (const FlowId id : ids) rates.push_back(flows.rate(id));
  return rates;
}

Bisection bisect(const Topology& topology, std::span<const DeviceId> gpus) {
  if (gpus.size() <= kExhaustiveHalves) return bisect_exhaustively(topology, gpus);
  const auto node = [&](std::size_t i) { return static_cast<std::size_t>(topology.device(gpus[i]).node); };
  const bool boxes = node(0) != node(gpus.size() - 1);
  std::map<std::size_t, std::size_t> in_box;
  for (std::size_t i = 0; i < gpus.size(); ++i) ++in_box[node(i)];
  std::map<std::size_t, std::size_t> seen;
  std::vector<bool> early;  // in the first half of its box
  for (std::size_t i = 0; i < gpus.size(); ++i) early.push_back(2 * seen[node(i)]++ < in_box[node(i)]);
  std::vector<std::function<bool(std::size_t)>> ways = {[&](std::size_t i) { return i < (gpus.size() + 1) / 2; },
                                                        [&](std::size_t i) { return (boxes ? node(i) : i) % 2 == 0; }};
  if (boxes) ways.emplace_back([&](std::size_t i) { return early[i]; });
  Bisection bisection;
  for (const auto& is_first : ways) {
    Halves halves = split(gpus, is_first);
    halves.rate = slower_way(rates_together(topology, copies_across(halves, false)));
    consider(bisection, std::move(halves));
  }
  return bisection;
}

}  // namespace gpuscale
