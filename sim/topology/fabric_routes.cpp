#include "topology/fabric_routes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "topology/topology.hpp"
#include "units/time.hpp"

namespace gpuscale {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// A good mixing of 64 bits (Steele et al., SplitMix64).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

/// Whether a link leads out of a box or between boxes.
bool is_outside(const Link& link, std::span<const Device> devices) {
  const int from = devices[link.from.index()].node;
  return from < 0 || from != devices[link.to.index()].node;
}

}  // namespace

/// The two ends of a transfer, as the choice among equal ways uses them.
struct FabricRoutes::Ends {
  std::uint32_t from;
  std::uint32_t to;
};

FabricRoutes::FabricRoutes(std::span<const Device> devices, std::span<const Link> links, TorusGrid torus,
                           EqualCostSpec equal_cost)
    : torus_(std::move(torus)), equal_cost_(equal_cost) {
  std::vector<bool> takes_part(devices.size(), false);
  for (std::size_t i = 0; i < devices.size(); ++i) takes_part[i] = devices[i].node < 0;
  for (const Link& link : links) {
    if (is_outside(link, devices)) takes_part[link.from.index()] = takes_part[link.to.index()] = true;
  }
  for (const DeviceId adapter : torus_.adapter) takes_part[adapter.index()] = true;
  vertex_.assign(devices.size(), kNone);
  number_vertices(devices, takes_part);
  const auto counts = [&](const Link& link) {
    return vertex_[link.from.index()] != kNone && vertex_[link.to.index()] != kNone;
  };
  first_hop_.assign(vertices_ + 1, 0);
  for (const Link& link : links) first_hop_[counts(link) ? vertex_[link.from.index()] + 1 : 0] += counts(link) ? 1 : 0;
  std::partial_sum(first_hop_.begin(), first_hop_.end(), first_hop_.begin());
  hops_.resize(first_hop_.back());
  std::vector<std::uint32_t> next(first_hop_.begin(), first_hop_.end() - 1);
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!counts(links[i])) continue;
    Hop& hop = hops_[next[vertex_[links[i].from.index()]]++];
    hop = {LinkId(i), vertex_[links[i].to.index()], Time().after(links[i].latency).picoseconds()};
  }
  number_slots();
  find_torus_links();
}

/// Switches first, then adapters, each in the order of their ids.
void FabricRoutes::number_vertices(std::span<const Device> devices, const std::vector<bool>& takes_part) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (takes_part[i] && devices[i].node < 0) vertex_[i] = switches_++;
  }
  vertices_ = switches_;
  ordinal_.assign(switches_, 0);
  int node = -1;
  std::uint32_t ordinal = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!takes_part[i] || devices[i].node < 0) continue;
    vertex_[i] = vertices_++;
    ordinal = devices[i].node == node ? ordinal + 1 : 0;
    node = devices[i].node;
    ordinal_.push_back(ordinal);
    adapters_.emplace_back(i);
  }
}

std::span<const FabricRoutes::Hop> FabricRoutes::hops_from(std::uint32_t vertex) const {
  return {hops_.data() + first_hop_[vertex], hops_.data() + first_hop_[vertex + 1]};
}

/// The adapters below a switch, in the order of boxes.
std::vector<std::uint32_t> FabricRoutes::adapters_below(std::uint32_t vertex) const {
  std::vector<std::uint32_t> below;
  for (const Hop& hop : hops_from(vertex)) {
    if (!is_switch(hop.to)) below.push_back(hop.to);
  }
  std::ranges::sort(below);
  return below;
}

/// Whether leaves are alike: the same places of boxes in the same order below each (the last may have fewer), counted
/// from its lowest. Leaves that cut boxes at unlike places are not.
bool FabricRoutes::leaves_are_alike() const {
  std::vector<std::uint32_t> first;
  for (std::uint32_t vertex = 0; vertex < switches_; ++vertex) {
    std::vector<std::uint32_t> places;
    for (const std::uint32_t adapter : adapters_below(vertex)) places.push_back(ordinal_[adapter]);
    if (places.empty()) continue;
    const std::uint32_t lowest = *std::ranges::min_element(places);
    for (std::uint32_t& place : places) place -= lowest;
    if (first.empty()) first = places;
    const std::size_t shared = std::min(first.size(), places.size());
    if (!std::ranges::equal(std::span(first).first(shared), std::span(places).first(shared))) return false;
  }
  return true;
}

/// Adapters below a switch are numbered first by their place in their box, then by box: both a job on all adapters and
/// one that uses the same adapter of every box then spread over all ways upwards. Where leaves are unlike that would
/// number neighbours of two leaves alike; there the order of boxes numbers them, which goes on from leaf to leaf.
void FabricRoutes::number_slots() {
  slot_.assign(vertices_, 0);
  leaf_.assign(vertices_, 0);
  const bool by_place = leaves_are_alike();
  std::uint32_t leaves = 0;
  for (std::uint32_t vertex = 0; vertex < switches_; ++vertex) {
    std::vector<std::uint32_t> below = adapters_below(vertex);
    if (below.empty()) continue;
    if (by_place) std::ranges::stable_sort(below, {}, [&](std::uint32_t adapter) { return ordinal_[adapter]; });
    for (std::uint32_t slot = 0; slot < below.size(); ++slot) {
      slot_[below[slot]] = slot;
      leaf_[below[slot]] = leaves;
    }
    ++leaves;
  }
}

/// A breadth-first search backwards from the target; links lead both ways, so forwards will do. Layer by
/// layer, so that the least latency of a switch is final before the next layer uses it.
const FabricRoutes::Distances& FabricRoutes::distances_to(std::uint32_t target) {
  const auto [position, is_new] = distances_.try_emplace(target);
  Distances& result = position->second;
  if (!is_new) return result;
  result.assign(switches_, kUnreachable);
  std::vector<std::uint32_t> queue;
  const auto look_around = [&](std::uint32_t at, RouteCost cost) {
    for (const Hop& hop : hops_from(at)) {
      if (!is_switch(hop.to)) continue;
      const RouteCost there = cost + RouteCost{1, hop.latency};
      if (result[hop.to] == kUnreachable) queue.push_back(hop.to);
      result[hop.to] = std::min(result[hop.to], there);
    }
  };
  if (is_switch(target)) result[target] = {};
  look_around(target, {});
  for (std::size_t i = 0; i < queue.size(); ++i) look_around(queue[i], result[queue[i]]);
  return result;
}

/// Where distances lead: the switch of an adapter with one link, for all adapters there together.
std::uint32_t FabricRoutes::target_of(std::uint32_t adapter) const {
  std::uint32_t only = adapter;
  std::size_t outside = 0;
  for (const Hop& hop : hops_from(adapter)) {
    if (!is_switch(hop.to)) return adapter;
    ++outside;
    only = hop.to;
  }
  return outside == 1 ? only : adapter;
}

std::size_t FabricRoutes::choice(const Ends& ends, std::size_t equals, std::uint32_t hop,
                                 std::int64_t hops_left) const {
  if (equals == 1) return 0;
  if (equal_cost_.collisions) {
    const std::uint64_t flow = std::uint64_t{ends.from} << 32U | ends.to;
    return mixed(mixed(equal_cost_.seed ^ mixed(flow)) + hop) % equals;
  }
  // On the way up from the first switch, and down into the last, adapters of the receiver's switch keep
  // apart; in between the switches do (as destination-modulo routing of fat trees has it).
  const bool beside_a_leaf = hop <= 1 || hops_left <= 1;
  return (beside_a_leaf ? slot_[ends.to] : leaf_[ends.to]) % equals;
}

bool FabricRoutes::append_over_switches(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path) {
  const std::uint32_t target = target_of(to);
  const Distances& distance = distances_to(target);
  const auto cost_from = [&](std::uint32_t vertex) {
    if (vertex == target) return RouteCost{};
    return is_switch(vertex) ? distance[vertex] : kUnreachable;
  };
  std::vector<const Hop*> equals;
  std::uint32_t at = from;
  for (std::uint32_t count = 0; at != target; ++count) {
    RouteCost least = kUnreachable;
    equals.clear();
    for (const Hop& hop : hops_from(at)) {
      const RouteCost cost = cost_from(hop.to) + RouteCost{1, hop.latency};
      if (cost < least) equals.clear();
      least = std::min(least, cost);
      if (cost == least && cost < kUnreachable) equals.push_back(&hop);
    }
    if (equals.empty()) return false;  // only at the first adapter: a switch with a distance has a next hop
    const Hop& taken = *equals[choice({from, to}, equals.size(), count, least.hops)];
    path.push_back(taken.link);
    at = taken.to;
  }
  // The adapter's only link, the other way: links are added in pairs (TopologyBuilder::connect), and a
  // switch may have thousands of links to look through.
  if (target != to) path.emplace_back(hops_from(to).front().link.index() ^ 1U);
  return true;
}

void FabricRoutes::find_torus_links() {
  if (torus_.size.empty()) return;
  position_.assign(vertices_, kNone);
  for (std::uint32_t i = 0; i < torus_.adapter.size(); ++i) position_[vertex_[torus_.adapter[i].index()]] = i;
  const std::size_t dimensions = torus_.size.size();
  torus_links_.assign(torus_.adapter.size() * dimensions * 2, LinkId());
  std::size_t stride = 1;
  for (std::size_t dimension = dimensions; dimension-- > 0;) {
    const auto length = static_cast<std::size_t>(torus_.size[dimension]);
    for (std::size_t position = 0; position < torus_.adapter.size(); ++position) {
      const std::size_t along = position / stride % length;
      for (const std::size_t direction : {0UL, 1UL}) {
        const std::size_t neighbour = direction == 0 ? (along + 1) % length : (along + length - 1) % length;
        const bool over_the_edge = direction == 0 ? along + 1 == length : along == 0;
        if (length == 1 || (over_the_edge && !torus_.wrap)) continue;
        const std::size_t there = position - along * stride + neighbour * stride;
        for (const Hop& hop : hops_from(vertex_[torus_.adapter[position].index()])) {
          if (hop.to != vertex_[torus_.adapter[there].index()]) continue;
          torus_links_[(position * dimensions + dimension) * 2 + direction] = hop.link;
          break;
        }
      }
    }
    stride *= length;
  }
}

/// The first dimension to its end, then the second: the shorter way round each, and where both are
/// equal, every second position goes the other way.
bool FabricRoutes::append_over_torus(DeviceId from, DeviceId to, std::vector<LinkId>& path) const {
  const std::size_t before = path.size();
  const std::size_t dimensions = torus_.size.size();
  std::size_t at = position_[vertex_[from.index()]];
  const std::size_t end = position_[vertex_[to.index()]];
  std::size_t stride = torus_.adapter.size();
  for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
    const auto length = static_cast<std::size_t>(torus_.size[dimension]);
    stride /= length;
    std::size_t along = at / stride % length;
    const std::size_t goal = end / stride % length;
    const std::size_t upwards = (goal + length - along) % length;
    const std::size_t downwards = (length - upwards) % length;
    bool up = torus_.wrap ? upwards < downwards : goal > along;
    if (torus_.wrap && upwards == downwards) {
      const std::uint64_t flow = static_cast<std::uint64_t>(from.index()) << 32U | to.index();
      up = equal_cost_.collisions ? mixed(equal_cost_.seed ^ mixed(flow)) % 2 == 0 : along % 2 == 0;
    }
    while (along != goal) {
      const LinkId link = torus_links_[(at * dimensions + dimension) * 2 + (up ? 0 : 1)];
      if (!link.valid()) {
        path.resize(before);
        return false;
      }
      path.push_back(link);
      const std::size_t next = up ? (along + 1) % length : (along + length - 1) % length;
      at = at - along * stride + next * stride;
      along = next;
    }
  }
  return true;
}

bool FabricRoutes::append(DeviceId from, DeviceId to, std::vector<LinkId>& path) {
  const std::uint32_t start = vertex_[from.index()];
  const std::uint32_t end = vertex_[to.index()];
  if (start == kNone || end == kNone) return false;
  const bool both_in_torus = !position_.empty() && position_[start] != kNone && position_[end] != kNone;
  return both_in_torus ? append_over_torus(from, to, path) : append_over_switches(start, end, path);
}

}  // namespace gpuscale
