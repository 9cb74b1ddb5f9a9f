#include "topology/topology.hpp"

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <limits>
#include <map>

#include "units/check.hpp"
#include "units/time.hpp"

namespace gpuscale {

namespace {

using LinkIndex = boost::property<boost::edge_index_t, std::size_t>;
using Adjacency = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, LinkIndex>;
using Edge = boost::graph_traits<Adjacency>::edge_descriptor;

/// Fewest links first, then least latency in picoseconds; sums and compares lexicographically.
struct RouteCost {
  std::int64_t hops = 0;
  std::int64_t latency = 0;

  auto operator<=>(const RouteCost&) const = default;
  friend RouteCost operator+(RouteCost a, RouteCost b) { return {a.hops + b.hops, a.latency + b.latency}; }
};

constexpr RouteCost kUnreachable{std::numeric_limits<std::int64_t>::max() / 4,
                                 std::numeric_limits<std::int64_t>::max() / 4};

constexpr LinkId kNoLink{};

/// Which links a search may use.
enum class Ways { nvlink_only, all };
constexpr std::size_t kWays = 2;

bool forwards(DeviceKind kind) { return kind != DeviceKind::gpu && kind != DeviceKind::memory; }

}  // namespace

struct Topology::Graph {
  Adjacency adjacency;
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<Channel> channels;
  std::vector<DeviceId> gpus;

  /// The shortest way into every device from one start.
  struct Tree {
    std::vector<LinkId> entered_by;
    std::vector<RouteCost> cost;
  };
  std::map<std::pair<DeviceId, Ways>, Tree> trees;
  std::map<std::pair<DeviceId, DeviceId>, Route> routes;
  std::map<DeviceId, DeviceId> memories;

  const Tree& tree(DeviceId from, Ways ways);
  bool append_path(Route& route, DeviceId from, DeviceId to, Ways ways);
  void append_link(Route& route, const Link& link, const Link* next) const;
  Route find_route(DeviceId from, DeviceId to);
  DeviceId nearest_memory(DeviceId gpu);
};

namespace {

/// Links out of a device that forwards, or out of the start itself.
struct MayUse {
  const Adjacency* adjacency = nullptr;
  const std::vector<Device>* devices = nullptr;
  const std::vector<Link>* links = nullptr;
  DeviceId start;
  Ways ways = Ways::all;

  bool operator()(const Edge& edge) const {
    const Link& link = (*links)[boost::get(boost::edge_index, *adjacency, edge)];
    if (ways == Ways::nvlink_only && link.kind != "nvlink") return false;
    return link.from == start || forwards((*devices)[link.from.index()].kind);
  }
};

/// Notes for each device the link by which the shortest way enters it.
class EnteredBy : public boost::dijkstra_visitor<> {
 public:
  EnteredBy(const Adjacency& adjacency, std::vector<LinkId>& entered) : adjacency_(&adjacency), entered_(&entered) {}

  template <class Graph>
  void edge_relaxed(const Edge& edge, const Graph& /*graph*/) {
    (*entered_)[boost::target(edge, *adjacency_)] = LinkId(boost::get(boost::edge_index, *adjacency_, edge));
  }

 private:
  const Adjacency* adjacency_;
  std::vector<LinkId>* entered_;
};

}  // namespace

const Topology::Graph::Tree& Topology::Graph::tree(DeviceId from, Ways ways) {
  const auto [position, is_new] = trees.try_emplace({from, ways});
  Tree& tree = position->second;
  if (!is_new) return tree;
  tree.entered_by.assign(devices.size(), kNoLink);
  tree.cost.assign(devices.size(), kUnreachable);
  const auto cost_of_edge = [this](const Edge& edge) {
    const Link& link = links[boost::get(boost::edge_index, adjacency, edge)];
    return RouteCost{1, Time().after(link.latency).picoseconds()};
  };
  const boost::filtered_graph<Adjacency, MayUse> usable(adjacency, MayUse{&adjacency, &devices, &links, from, ways});
  const auto index = boost::get(boost::vertex_index, adjacency);
  boost::dijkstra_shortest_paths(usable, from.index(),
                                 boost::weight_map(boost::make_function_property_map<Edge>(cost_of_edge))
                                     .distance_map(boost::make_iterator_property_map(tree.cost.begin(), index))
                                     .distance_combine(std::plus<>())
                                     .distance_compare(std::less<>())
                                     .distance_inf(kUnreachable)
                                     .distance_zero(RouteCost{})
                                     .visitor(EnteredBy(adjacency, tree.entered_by)));
  return tree;
}

void Topology::Graph::append_link(Route& route, const Link& link, const Link* next) const {
  route.channels.push_back(link.channel);
  route.latency += link.latency;
  route.crosses_nodes = route.crosses_nodes || link.kind == "infiniband" || link.kind == "ethernet";
  const Device& reached = devices[link.to.index()];
  const bool peer_passes = next != nullptr && link.kind == "pcie" && next->kind == "pcie";
  if (peer_passes && reached.through.valid()) route.channels.push_back(reached.through);
}

bool Topology::Graph::append_path(Route& route, DeviceId from, DeviceId to, Ways ways) {
  const Tree& ways_from = tree(from, ways);
  if (from != to && !ways_from.entered_by[to.index()].valid()) return false;
  std::vector<LinkId> path;
  for (DeviceId at = to; at != from; at = links[path.back().index()].from) {
    path.push_back(ways_from.entered_by[at.index()]);
  }
  std::ranges::reverse(path);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Link* next = i + 1 < path.size() ? &links[path[i + 1].index()] : nullptr;
    append_link(route, links[path[i].index()], next);
  }
  return true;
}

DeviceId Topology::Graph::nearest_memory(DeviceId gpu) {
  const auto found = memories.find(gpu);
  if (found != memories.end()) return found->second;
  const Tree& ways_from = tree(gpu, Ways::all);
  DeviceId best;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind != DeviceKind::memory || ways_from.cost[i] == kUnreachable) continue;
    if (!best.valid() || ways_from.cost[i] < ways_from.cost[best.index()]) best = DeviceId(i);
  }
  memories.emplace(gpu, best);
  return best;
}

Route Topology::Graph::find_route(DeviceId from, DeviceId to) {
  Route route;
  if (from == to) return route;
  const Device& sender = devices[from.index()];
  const Device& receiver = devices[to.index()];
  const bool both_gpus = sender.kind == DeviceKind::gpu && receiver.kind == DeviceKind::gpu;
  if (both_gpus && append_path(route, from, to, Ways::nvlink_only)) {
    route.over_nvlink = true;
    return route;
  }
  if (!both_gpus || (sender.peer_to_peer && receiver.peer_to_peer)) {
    check(append_path(route, from, to, Ways::all), "a built topology is connected");
    return route;
  }
  const DeviceId memory = nearest_memory(from);
  check(memory.valid(), "a built topology has a memory for cards without peer-to-peer");
  const DeviceId last_memory = sender.node == receiver.node ? memory : nearest_memory(to);
  append_path(route, from, memory, Ways::all);
  append_path(route, memory, last_memory, Ways::all);
  append_path(route, last_memory, to, Ways::all);
  route.staged = true;
  const ChannelId staging = devices[memory.index()].staging;
  if (staging.valid()) route.channels.push_back(staging);
  return route;
}

Topology::Topology(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}
Topology::~Topology() = default;
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;

std::span<const Device> Topology::devices() const { return graph_->devices; }
std::span<const Link> Topology::links() const { return graph_->links; }
std::span<const Channel> Topology::channels() const { return graph_->channels; }
std::span<const DeviceId> Topology::gpus() const { return graph_->gpus; }

const Route& Topology::route(DeviceId from, DeviceId to) const {
  const auto found = graph_->routes.find({from, to});
  if (found != graph_->routes.end()) return found->second;
  return graph_->routes.emplace(std::pair{from, to}, graph_->find_route(from, to)).first->second;
}

DeviceId Topology::host_memory(DeviceId gpu) const { return graph_->nearest_memory(gpu); }

TopologyBuilder::TopologyBuilder() : graph_(std::make_unique<Topology::Graph>()) {}
TopologyBuilder::~TopologyBuilder() = default;

DeviceId TopologyBuilder::add(Device device) {
  const DeviceId id(graph_->devices.size());
  if (device.kind == DeviceKind::gpu) graph_->gpus.push_back(id);
  graph_->devices.push_back(std::move(device));
  boost::add_vertex(graph_->adjacency);
  return id;
}

ChannelId TopologyBuilder::add_channel(std::string name, BytesPerSecond rate) {
  check(rate.count() > 0, "a channel has a positive rate");
  graph_->channels.push_back({std::move(name), rate});
  return ChannelId(graph_->channels.size() - 1);
}

void TopologyBuilder::connect(DeviceId a, DeviceId b, const LinkType& type, int lanes) {
  const BytesPerSecond rate = type.lane_rate * lanes * type.delivered;
  const std::string& first = graph_->devices[a.index()].name;
  const std::string& second = graph_->devices[b.index()].name;
  const std::string words = type.lanes.empty() ? type.id : type.id + " x" + std::to_string(lanes);
  const ChannelId forth =
      add_channel(first + (type.half_duplex ? " <-> " : " -> ") + second + " (" + words + ")", rate);
  const ChannelId back = type.half_duplex ? forth : add_channel(second + " -> " + first + " (" + words + ")", rate);
  for (const auto& [from, to, channel] : {std::tuple{a, b, forth}, std::tuple{b, a, back}}) {
    boost::add_edge(from.index(), to.index(), LinkIndex(graph_->links.size()), graph_->adjacency);
    graph_->links.push_back({from, to, channel, type.latency, type.id, type.kind});
  }
}

Topology TopologyBuilder::build() && {
  Topology::Graph& graph = *graph_;
  if (!graph.gpus.empty()) {
    const DeviceId first = graph.gpus.front();
    for (const DeviceId gpu : graph.gpus) {
      const bool reached = gpu == first || graph.tree(first, Ways::all).entered_by[gpu.index()].valid();
      if (!reached) {
        throw ScenarioError(
            {{Place{}, "no way from " + graph.devices[first.index()].name + " to " + graph.devices[gpu.index()].name +
                           "; connect their machine's devices with links"}});
      }
      if (!graph.devices[gpu.index()].peer_to_peer && !graph.nearest_memory(gpu).valid()) {
        throw ScenarioError(
            {{Place{}, "no host memory in reach of " + graph.devices[gpu.index()].name +
                           ", which needs one for copies; add a device of kind memory and a link to it"}});
      }
    }
  }
  return Topology(std::move(graph_));
}

}  // namespace gpuscale
