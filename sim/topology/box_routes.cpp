#include "topology/box_routes.hpp"

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <limits>
#include <map>

namespace gpuscale {

namespace {

using LinkIndex = boost::property<boost::edge_index_t, std::uint32_t>;
using Adjacency = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, LinkIndex>;
using Edge = boost::graph_traits<Adjacency>::edge_descriptor;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Trees kept for one shape, in entries: some 200 MB. No box that was ever built comes near.
constexpr std::size_t kMostTreeEntries = 8'000'000;

/// The shortest way into every forwarding device from one of them.
struct Tree {
  std::vector<std::uint32_t> entered_by;
  std::vector<RouteCost> cost;
};

/// Notes for each device the link by which the shortest way enters it.
class EnteredBy : public boost::dijkstra_visitor<> {
 public:
  EnteredBy(const Adjacency& adjacency, std::vector<std::uint32_t>& entered)
      : adjacency_(&adjacency), entered_(&entered) {}

  template <class Graph>
  void edge_relaxed(const Edge& edge, const Graph& /*graph*/) {
    (*entered_)[boost::target(edge, *adjacency_)] = boost::get(boost::edge_index, *adjacency_, edge);
  }

 private:
  const Adjacency* adjacency_;
  std::vector<std::uint32_t>* entered_;
};

}  // namespace

/// The forwarding devices and the links among them, once for each sort of way, with the trees so far.
/// GPUs and memories hang on it by their own links and are no part of any search, so that a switch with
/// a thousand cards is one tree of one device.
struct BoxRoutes::Search {
  std::array<Adjacency, 2> core;
  std::map<std::pair<std::uint32_t, Ways>, Tree> trees;

  explicit Search(const BoxShape& shape) : core{Adjacency(shape.kinds.size()), Adjacency(shape.kinds.size())} {
    for (std::uint32_t i = 0; i < shape.links.size(); ++i) {
      const BoxLink& link = shape.links[i];
      if (!forwards(shape.kinds[link.from]) || !forwards(shape.kinds[link.to])) continue;
      boost::add_edge(link.from, link.to, LinkIndex(i), core[static_cast<std::size_t>(Ways::all)]);
      if (link.own_link)
        boost::add_edge(link.from, link.to, LinkIndex(i), core[static_cast<std::size_t>(Ways::own_links)]);
    }
  }

  const Tree& tree(std::uint32_t start, Ways ways, const BoxShape& shape) {
    if (trees.size() * shape.kinds.size() > kMostTreeEntries) trees.clear();
    const auto [position, is_new] = trees.try_emplace({start, ways});
    Tree& tree = position->second;
    if (!is_new) return tree;
    const Adjacency& graph = core[static_cast<std::size_t>(ways)];
    tree.entered_by.assign(shape.kinds.size(), kNone);
    tree.cost.assign(shape.kinds.size(), kUnreachable);
    const auto cost_of_edge = [&](const Edge& edge) {
      return RouteCost{1, shape.links[boost::get(boost::edge_index, graph, edge)].latency};
    };
    const auto index = boost::get(boost::vertex_index, graph);
    boost::dijkstra_shortest_paths(graph, start,
                                   boost::weight_map(boost::make_function_property_map<Edge>(cost_of_edge))
                                       .distance_map(boost::make_iterator_property_map(tree.cost.begin(), index))
                                       .distance_combine(std::plus<>())
                                       .distance_compare(std::less<>())
                                       .distance_inf(kUnreachable)
                                       .distance_zero(RouteCost{})
                                       .visitor(EnteredBy(graph, tree.entered_by)));
    return tree;
  }
};

/// A way as its cost and its ends: a first link into the forwarding devices, a way among them from
/// `enter` to `leave`, a last link. Links that a way does not have are kNone.
struct BoxRoutes::Way {
  RouteCost cost = kUnreachable;
  std::uint32_t first = kNone;
  std::uint32_t enter = kNone;
  std::uint32_t leave = kNone;
  std::uint32_t last = kNone;
};

BoxRoutes::BoxRoutes(BoxShape shape)
    : shape_(std::move(shape)),
      out_(shape_.kinds.size()),
      in_(shape_.kinds.size()),
      search_(std::make_unique<Search>(shape_)),
      adapters_(shape_.kinds.size()) {
  for (std::uint32_t i = 0; i < shape_.links.size(); ++i) {
    out_[shape_.links[i].from].push_back(i);
    in_[shape_.links[i].to].push_back(i);
  }
}

BoxRoutes::~BoxRoutes() = default;

std::optional<BoxRoutes::Way> BoxRoutes::way(std::uint32_t from, std::uint32_t to, Ways ways) {
  struct End {
    std::uint32_t link;
    std::uint32_t device;
    RouteCost cost;
  };
  Way best;
  const auto usable = [&](const BoxLink& link) { return ways == Ways::all || link.own_link; };
  std::vector<End> starts;
  std::vector<End> ends;
  if (forwards(shape_.kinds[from])) starts.push_back({kNone, from, {}});
  if (forwards(shape_.kinds[to])) ends.push_back({kNone, to, {}});
  if (starts.empty()) {
    for (const std::uint32_t i : out_[from]) {
      const BoxLink& link = shape_.links[i];
      if (!usable(link)) continue;
      const RouteCost cost{1, link.latency};
      if (forwards(shape_.kinds[link.to])) {
        starts.push_back({i, link.to, cost});
      } else if (link.to == to && cost < best.cost) {
        best = {cost, i, kNone, kNone, kNone};
      }
    }
  }
  if (ends.empty()) {
    for (const std::uint32_t i : in_[to]) {
      const BoxLink& link = shape_.links[i];
      if (usable(link) && forwards(shape_.kinds[link.from])) ends.push_back({i, link.from, {1, link.latency}});
    }
  }
  for (const End& start : starts) {
    const Tree& tree = search_->tree(start.device, ways, shape_);
    for (const End& end : ends) {
      if (tree.cost[end.device] == kUnreachable) continue;
      const RouteCost cost = start.cost + tree.cost[end.device] + end.cost;
      if (cost < best.cost) best = {cost, start.link, start.device, end.device, end.link};
    }
  }
  return best.cost < kUnreachable ? std::optional<Way>(best) : std::nullopt;
}

std::optional<BoxRoutes::Path> BoxRoutes::path(std::uint32_t from, std::uint32_t to, Ways ways) {
  if (from == to) return Path();
  const std::optional<Way> found = way(from, to, ways);
  if (!found) return std::nullopt;
  Path path;  // backwards at first
  if (found->last != kNone) path.push_back(found->last);
  if (found->enter != kNone) {
    const Tree& tree = search_->tree(found->enter, ways, shape_);
    for (std::uint32_t at = found->leave; at != found->enter; at = shape_.links[path.back()].from)
      path.push_back(tree.entered_by[at]);
  }
  if (found->first != kNone) path.push_back(found->first);
  std::ranges::reverse(path);
  return path;
}

std::optional<std::uint32_t> BoxRoutes::nearest_memory(std::uint32_t from) {
  std::optional<std::uint32_t> best;
  RouteCost least = kUnreachable;
  for (std::uint32_t i = 0; i < shape_.kinds.size(); ++i) {
    if (shape_.kinds[i] != DeviceKind::memory) continue;
    const std::optional<Way> found = i == from ? Way{.cost = {}} : way(from, i, Ways::all);
    if (!found || !(found->cost < least)) continue;
    least = found->cost;
    best = i;
  }
  return best;
}

std::vector<std::uint32_t> BoxRoutes::sorted_adapters(std::uint32_t from, std::vector<RouteCost>& costs) {
  costs.assign(shape_.kinds.size(), kUnreachable);
  std::vector<std::uint32_t> reached;
  for (const std::uint32_t adapter : shape_.adapters) {
    const std::optional<Way> found = adapter == from ? Way{.cost = {}} : way(from, adapter, Ways::all);
    if (!found) continue;
    costs[adapter] = found->cost;
    reached.push_back(adapter);
  }
  std::ranges::stable_sort(reached, [&](std::uint32_t a, std::uint32_t b) { return costs[a] < costs[b]; });
  return reached;
}

const std::vector<std::uint32_t>& BoxRoutes::adapters_by_distance(std::uint32_t from) {
  if (adapters_[from]) return *adapters_[from];
  std::vector<RouteCost> costs;
  const auto nearest = [&](const std::vector<std::uint32_t>& sorted) {
    std::ptrdiff_t count = 0;
    for (const std::uint32_t adapter : sorted) count += costs[adapter] == costs[sorted.front()] ? 1 : 0;
    return count;
  };
  if (shape_.kinds[from] != DeviceKind::gpu) return adapters_[from].emplace(sorted_adapters(from, costs));
  // GPUs that share the same nearest adapters take turns, so all GPUs are looked at together.
  std::map<std::vector<std::uint32_t>, std::ptrdiff_t> turns;
  for (std::uint32_t gpu = 0; gpu < shape_.kinds.size(); ++gpu) {
    if (shape_.kinds[gpu] != DeviceKind::gpu) continue;
    std::vector<std::uint32_t> sorted = sorted_adapters(gpu, costs);
    if (const std::ptrdiff_t equals = nearest(sorted); equals > 1) {
      const std::ptrdiff_t turn = turns[{sorted.begin(), sorted.begin() + equals}]++ % equals;
      std::rotate(sorted.begin(), sorted.begin() + turn, sorted.begin() + equals);
    }
    adapters_[gpu] = std::move(sorted);
  }
  return *adapters_[from];
}

}  // namespace gpuscale
