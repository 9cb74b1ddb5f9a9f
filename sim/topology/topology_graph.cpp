#include "topology/topology_graph.hpp"

#include <algorithm>
#include <string_view>

#include "topology/box_pieces.hpp"
#include "units/time.hpp"

namespace gpuscale {

namespace {

/// Links that cards have among themselves, beside the bus of the host.
bool is_own_link(std::string_view kind) { return kind == "nvlink" || kind == "fabric"; }

/// Peer traffic counts at a root complex by every port of PCIe that it passes there and, half as much, by every link
/// to another socket: kPassParts where it goes from port to port, three quarters of that at either end of a crossing.
constexpr int kSocketParts = 1;
constexpr int kPortParts = 2;
static_assert(2 * kPortParts == kPassParts);

[[noreturn]] void refuse(std::string text) { throw ScenarioError({{Place{}, std::move(text)}}); }

}  // namespace

void Topology::Graph::sort_links() {
  first_link.assign(devices.size() + 1, 0);
  for (const Link& link : links) ++first_link[link.from.index() + 1];
  for (std::size_t i = 0; i < devices.size(); ++i) first_link[i + 1] += first_link[i];
  std::vector<std::uint32_t> next(first_link.begin(), first_link.end() - 1);
  links_by_device.resize(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) links_by_device[next[links[i].from.index()]++] = LinkId(i);
}

void Topology::Graph::sort_into_boxes() {
  place.assign(devices.size(), 0);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].node < 0) continue;
    const auto node = static_cast<std::size_t>(devices[i].node);
    if (node >= boxes.size()) boxes.resize(node + 1);
    place[i] = static_cast<std::uint32_t>(boxes[node].devices.size());
    boxes[node].devices.emplace_back(i);
  }
  std::vector<BoxShape> shape_of(boxes.size());
  for (std::size_t node = 0; node < boxes.size(); ++node) {
    for (const DeviceId device : boxes[node].devices) shape_of[node].kinds.push_back(devices[device.index()].kind);
  }
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    const int node = devices[link.from.index()].node;
    if (node < 0 || node != devices[link.to.index()].node) continue;
    boxes[static_cast<std::size_t>(node)].links.emplace_back(i);
    shape_of[static_cast<std::size_t>(node)].links.push_back({place[link.from.index()], place[link.to.index()],
                                                              Time().after(link.latency).picoseconds(),
                                                              is_own_link(link.kind)});
  }
  fabric = FabricRoutes(devices, links, std::move(torus), equal_cost);
  for (const DeviceId adapter : fabric.adapters()) {
    shape_of[static_cast<std::size_t>(devices[adapter.index()].node)].adapters.push_back(place[adapter.index()]);
  }
  for (std::size_t node = 0; node < boxes.size(); ++node) {
    const auto [position, is_new] = shapes.try_emplace(shape_of[node]);
    if (is_new) position->second = std::make_unique<BoxRoutes>(std::move(shape_of[node]));
    boxes[node].routes = position->second.get();
  }
}

void Topology::Graph::check_reach() {
  const auto name_of = [&](DeviceId id) { return devices[id.index()].name; };
  const auto no_way = [&](DeviceId from, DeviceId to) {
    refuse("no way from " + name_of(from) + " to " + name_of(to) + "; connect their machine's devices with links");
  };
  std::vector<const BoxRoutes*> seen;
  DeviceId first;
  for (const Box& box : boxes) {
    const bool is_new = std::ranges::find(seen, box.routes) == seen.end();
    if (is_new) seen.push_back(box.routes);
    if (const auto pair = is_new ? BoxPieces(box.routes->shape()).apart() : std::nullopt) {
      no_way(box.devices[pair->first], box.devices[pair->second]);
    }
    bool joined = false;  // what one GPU of a box reaches outside, its others reach as well
    for (const DeviceId device : box.devices) {
      const Device& gpu = devices[device.index()];
      if (gpu.kind != DeviceKind::gpu) continue;
      if (is_new && !gpu.peer_to_peer && !nearest_memory(device).valid()) {
        refuse("no host memory in reach of " + gpu.name +
               ", which needs one for copies; add a device of kind memory and a link to it");
      }
      if (!first.valid()) first = device;
      const bool outside = devices[first.index()].node != gpu.node;
      if (outside && is_new && adapters_of(device).empty()) no_way(first, device);
      if (outside && !joined && !way_between_boxes(first, device)) no_way(first, device);
      joined = true;
    }
  }
}

std::optional<std::vector<LinkId>> Topology::Graph::path_in_box(DeviceId from, DeviceId to, Ways ways) {
  const Box& box = box_of(from);
  const std::optional<BoxRoutes::Path> path = box.routes->path(place[from.index()], place[to.index()], ways);
  if (!path) return std::nullopt;
  std::vector<LinkId> result;
  result.reserve(path->size());
  for (const std::uint32_t link : *path) result.push_back(box.links[link]);
  return result;
}

DeviceId Topology::Graph::nearest_memory(DeviceId device) {
  if (devices[device.index()].node < 0) return {};
  const Box& box = box_of(device);
  const std::optional<std::uint32_t> memory = box.routes->nearest_memory(place[device.index()]);
  return memory ? box.devices[*memory] : DeviceId();
}

DeviceId Topology::Graph::staging_memory(DeviceId gpu) {
  if (!one_memory) return nearest_memory(gpu);
  const auto is_gpu = [&](DeviceId device) { return devices[device.index()].kind == DeviceKind::gpu; };
  return nearest_memory(*std::ranges::find_if(box_of(gpu).devices, is_gpu));
}

std::vector<DeviceId> Topology::Graph::adapters_of(DeviceId device) {
  std::vector<DeviceId> adapters;
  if (devices[device.index()].node < 0) return adapters;
  const Box& box = box_of(device);
  for (const std::uint32_t adapter : box.routes->adapters_by_distance(place[device.index()])) {
    adapters.push_back(box.devices[adapter]);
  }
  return adapters;
}

std::optional<Topology::Graph::Way> Topology::Graph::way_in_box(DeviceId from, DeviceId to) {
  const Device& sender = devices[from.index()];
  const Device& receiver = devices[to.index()];
  const bool both_gpus = sender.kind == DeviceKind::gpu && receiver.kind == DeviceKind::gpu;
  if (both_gpus && sender.own_links && receiver.own_links) {
    if (std::optional<std::vector<LinkId>> path = path_in_box(from, to, Ways::own_links)) {
      return Way{.pieces = {std::move(*path)}, .over_own_links = true};
    }
  }
  if (!both_gpus || (sender.peer_to_peer && receiver.peer_to_peer)) {
    std::optional<std::vector<LinkId>> path = path_in_box(from, to, Ways::all);
    return path ? std::optional<Way>(Way{.pieces = {std::move(*path)}}) : std::nullopt;
  }
  const DeviceId memory = staging_memory(from);
  if (!memory.valid()) return std::nullopt;
  std::optional<std::vector<LinkId>> up = path_in_box(from, memory, Ways::all);
  std::optional<std::vector<LinkId>> down = path_in_box(memory, to, Ways::all);
  if (!up || !down) return std::nullopt;
  return Way{.pieces = {std::move(*up), std::move(*down)}, .memories = {memory}};
}

/// The part of a way between a device and its adapter, in the direction of the copy.
std::optional<Topology::Graph::Way> Topology::Graph::half_way(DeviceId device, DeviceId adapter, bool outwards) {
  const auto path = [&](DeviceId inner, DeviceId outer, Ways ways) {
    return outwards ? path_in_box(inner, outer, ways) : path_in_box(outer, inner, ways);
  };
  const Device& end = devices[device.index()];
  const bool is_gpu = end.kind == DeviceKind::gpu;
  if (is_gpu && end.own_links) {
    if (auto own = path(device, adapter, Ways::own_links)) {
      return Way{.pieces = {std::move(*own)}, .over_own_links = true};
    }
  }
  if (!is_gpu || end.gpudirect) {
    auto direct = path(device, adapter, Ways::all);
    return direct ? std::optional<Way>(Way{.pieces = {std::move(*direct)}}) : std::nullopt;
  }
  const DeviceId memory = staging_memory(device);
  if (!memory.valid()) return std::nullopt;
  auto inner = path(device, memory, Ways::all);
  auto outer = path(memory, adapter, Ways::all);
  if (!inner || !outer) return std::nullopt;
  Way way{.memories = {memory}};
  way.pieces.push_back(std::move(outwards ? *inner : *outer));
  way.pieces.push_back(std::move(outwards ? *outer : *inner));
  return way;
}

std::optional<Topology::Graph::Way> Topology::Graph::way_by_adapters(DeviceId from, DeviceId first, DeviceId second,
                                                                     DeviceId to) {
  std::vector<LinkId> between;
  if (!fabric.append(first, second, between)) return std::nullopt;
  std::optional<Way> way = half_way(from, first, true);
  const std::optional<Way> rest = half_way(to, second, false);
  if (!way || !rest) return std::nullopt;
  // Without a stop at the adapters: the pieces beside the fabric and it are one.
  way->pieces.back().insert(way->pieces.back().end(), between.begin(), between.end());
  way->pieces.back().insert(way->pieces.back().end(), rest->pieces.front().begin(), rest->pieces.front().end());
  way->pieces.insert(way->pieces.end(), rest->pieces.begin() + 1, rest->pieces.end());
  way->memories.insert(way->memories.end(), rest->memories.begin(), rest->memories.end());
  const auto is_own = [&](LinkId link) { return is_own_link(links[link.index()].kind); };
  way->over_own_links = way->over_own_links && rest->over_own_links && std::ranges::all_of(between, is_own);
  return way;
}

/// By the nearest adapters; where no fabric joins those, by the nearest that one does.
std::optional<Topology::Graph::Way> Topology::Graph::way_between_boxes(DeviceId from, DeviceId to) {
  const std::vector<DeviceId> second = adapters_of(to);
  for (const DeviceId first : adapters_of(from)) {
    for (const DeviceId last : second) {
      if (std::optional<Way> way = way_by_adapters(from, first, last, to)) return way;
    }
  }
  return std::nullopt;
}

Topology::Graph::Way Topology::Graph::find_way(DeviceId from, DeviceId to) {
  if (from == to) return {};
  const int here = devices[from.index()].node;
  const int there = devices[to.index()].node;
  std::optional<Way> way;
  if (here >= 0 && there >= 0) way = here == there ? way_in_box(from, to) : way_between_boxes(from, to);
  if (!way) {
    refuse("no way for a copy from " + devices[from.index()].name + " to " + devices[to.index()].name +
           "; connect them by links over devices that forward (a gpu and a memory do not)");
  }
  return std::move(*way);
}

void Topology::Graph::append_piece(Route& route, const std::vector<LinkId>& piece) const {
  route.links.insert(route.links.end(), piece.begin(), piece.end());
  const auto ends_in_memory = [&] {
    const auto is_memory = [&](DeviceId id) { return devices[id.index()].kind == DeviceKind::memory; };
    return is_memory(links[piece.front().index()].from) || is_memory(links[piece.back().index()].to);
  };
  const bool between_peers = !piece.empty() && !ends_in_memory();
  for (const LinkId id : piece) {
    const Link& link = links[id.index()];
    route.channels.push_back(link.channel);
    route.latency += link.latency;
    if (!between_peers) continue;
    const int parts = link.kind == "pcie" ? kPortParts : link.kind == "socket" ? kSocketParts : 0;
    for (const DeviceId end : {link.from, link.to}) {
      const ChannelId through = devices[end.index()].through;
      if (through.valid()) route.channels.insert(route.channels.end(), static_cast<std::size_t>(parts), through);
    }
  }
}

Route Topology::Graph::find_route(DeviceId from, DeviceId to) {
  const Way way = find_way(from, to);
  Route route;
  route.staged = !way.memories.empty();
  route.over_nvlink = way.over_own_links;
  route.crosses_nodes = devices[from.index()].node != devices[to.index()].node;
  for (const std::vector<LinkId>& piece : way.pieces) append_piece(route, piece);
  for (const DeviceId memory : way.memories) {
    const ChannelId staging = devices[memory.index()].staging;
    if (staging.valid()) route.channels.push_back(staging);
  }
  if (route.staged) {
    for (const DeviceId end : {from, to}) {
      const ChannelId staged = devices[end.index()].staged;
      if (staged.valid()) route.channels.push_back(staged);
    }
  }
  route.channels.shrink_to_fit();
  route.links.shrink_to_fit();
  return route;
}

}  // namespace gpuscale
