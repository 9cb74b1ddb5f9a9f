#include "topology/topology.hpp"

#include <tuple>

#include "topology/topology_graph.hpp"
#include "units/check.hpp"

namespace gpuscale {

Topology::Topology(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}
Topology::~Topology() = default;
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;

std::span<const Device> Topology::devices() const { return graph_->devices; }
std::span<const Link> Topology::links() const { return graph_->links; }
std::span<const Channel> Topology::channels() const { return graph_->channels; }
std::span<const LinkId> Topology::links_from(DeviceId device) const {
  const std::size_t first = graph_->first_link[device.index()];
  const std::size_t last = graph_->first_link[device.index() + 1];
  return std::span(graph_->links_by_device).subspan(first, last - first);
}
std::span<const DeviceId> Topology::gpus() const { return graph_->gpus; }
int Topology::nodes() const { return static_cast<int>(graph_->boxes.size()); }
const TorusGrid& Topology::torus() const { return graph_->fabric.torus(); }

const Route& Topology::route(DeviceId from, DeviceId to) const {
  const std::uint64_t pair = std::uint64_t{from.index()} << 32U | to.index();
  const auto found = graph_->routes.find(pair);
  if (found != graph_->routes.end()) return found->second;
  return graph_->routes.emplace(pair, graph_->find_route(from, to)).first->second;
}

DeviceId Topology::host_memory(DeviceId gpu) const { return graph_->nearest_memory(gpu); }

DeviceId Topology::adapter(DeviceId device) const {
  const std::vector<DeviceId> adapters = graph_->adapters_of(device);
  return adapters.empty() ? DeviceId() : adapters.front();
}

TopologyBuilder::TopologyBuilder() : graph_(std::make_unique<Topology::Graph>()) {}
TopologyBuilder::~TopologyBuilder() = default;

DeviceId TopologyBuilder::add(Device device) {
  const DeviceId id(graph_->devices.size());
  if (device.kind == DeviceKind::gpu) graph_->gpus.push_back(id);
  graph_->devices.push_back(std::move(device));
  return id;
}

void TopologyBuilder::keep_copies_in_one_memory() { graph_->one_memory = true; }

ChannelId TopologyBuilder::add_channel(std::string name, BytesPerSecond rate, int counts) {
  check(rate.count() > 0, "a channel has a positive rate");
  check(counts > 0, "a channel counts what passes it");
  graph_->channels.push_back({std::move(name), rate * counts, counts});
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
    graph_->links.push_back({from, to, channel, type.latency, type.id, type.kind, lanes, type.exchange});
  }
}

void TopologyBuilder::set_torus(TorusGrid torus) { graph_->torus = std::move(torus); }
void TopologyBuilder::set_equal_cost(EqualCostSpec equal_cost) { graph_->equal_cost = equal_cost; }

Topology TopologyBuilder::build() && {
  graph_->sort_links();
  graph_->sort_into_boxes();
  graph_->check_reach();
  return Topology(std::move(graph_));
}

}  // namespace gpuscale
