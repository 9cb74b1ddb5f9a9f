#include "collective/rail_rings.hpp"

#include <algorithm>

namespace gpuscale {

namespace {

/// Ranks in each box if boxes follow each other and are equal; 0 otherwise.
std::size_t ranks_per_box(const Topology& topology, std::span<const DeviceId> gpus) {
  std::vector<int> nodes;
  std::vector<std::size_t> sizes;
  for (const DeviceId gpu : gpus) {
    const int node = topology.device(gpu).node;
    if (nodes.empty() || nodes.back() != node) {
      nodes.push_back(node);
      sizes.push_back(0);
    }
    ++sizes.back();
  }
  std::ranges::sort(nodes);
  if (std::ranges::adjacent_find(nodes) != nodes.end()) return 0;
  const bool equal = std::ranges::all_of(sizes, [&sizes](std::size_t size) { return size == sizes.front(); });
  return sizes.size() > 1 && equal ? sizes.front() : 0;
}

/// The order in which a ring visits the ranks of a box.
std::vector<std::size_t> order_in_box(const Topology& topology, std::span<const DeviceId> box) {
  const std::vector<Ring> rings = find_rings(topology, box);
  std::vector<std::size_t> order;
  for (const Leg& leg : rings.front()) order.push_back(leg.from);
  return order;
}

/// Places in that order where another adapter begins, each adapter once.
std::vector<std::size_t> starts_by_adapter(const Topology& topology, std::span<const DeviceId> box,
                                           const std::vector<std::size_t>& order) {
  std::vector<DeviceId> seen;
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const DeviceId adapter = topology.adapter(box[order[i]]);
    if (std::ranges::find(seen, adapter) != seen.end()) continue;
    seen.push_back(adapter);
    starts.push_back(i);
  }
  return starts;
}

}  // namespace

std::vector<Ring> rail_rings(const Topology& topology, std::span<const DeviceId> gpus) {
  const std::size_t size = ranks_per_box(topology, gpus);
  if (size < 2) return {};
  const std::span<const DeviceId> box = gpus.first(size);
  const std::vector<std::size_t> order = order_in_box(topology, box);
  const std::vector<std::size_t> starts = starts_by_adapter(topology, box, order);
  if (starts.size() < 2) return {};
  std::vector<Ring> rings;
  for (const std::size_t start : starts) {
    Ring ring;
    for (std::size_t first = 0; first < gpus.size(); first += size) {
      for (std::size_t i = 0; i < size; ++i) ring.push_back({.from = first + order[(start + i) % size]});
    }
    for (std::size_t i = 0; i < ring.size(); ++i) ring[i].to = ring[(i + 1) % ring.size()].from;
    rings.push_back(std::move(ring));
  }
  return rings;
}

}  // namespace gpuscale
