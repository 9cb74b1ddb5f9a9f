#include "study/drawn_graph.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>

#include "study/name_ranges.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kNotDrawn = static_cast<std::size_t>(-1);

class Grapher {
 public:
  Grapher(const Cluster& cluster, const std::vector<std::string>& cards)
      : topology_(cluster.topology), cards_(cards), drawn_as_(topology_.devices().size(), kNotDrawn) {
    node_ = topology_.device(cluster.ranks.front()).node;
  }

  DrawnGraph graph() {
    const std::vector<bool> kept = kept_devices();
    for (std::size_t i = 0; i < topology_.devices().size(); ++i) {
      const Device& device = topology_.devices()[i];
      if (device.node == node_ && kept[i] && device.kind != DeviceKind::nvswitch) draw({DeviceId(i)});
    }
    draw_nvswitches();
    draw_network();
    add_links();
    return std::move(graph_);
  }

 private:
  /// In a large box the first GPUs and what only they hang on; all else of a small one.
  std::vector<bool> kept_devices() {
    std::vector<bool> kept(topology_.devices().size(), true);
    std::vector<std::size_t> gpus;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Device& device = topology_.devices()[i];
      if (device.node == node_ && device.kind == DeviceKind::gpu) gpus.push_back(i);
    }
    if (gpus.size() > kDrawnGpus) {
      for (const std::size_t gpu : std::span(gpus).subspan(kFirstGpus)) kept[gpu] = false;
      graph_.left_out = gpus.size() - kFirstGpus;
    }
    if (graph_.left_out > 0) keep_what_is_reached(kept);
    return kept;
  }

  /// Upwards from the kept GPUs over PCIe to the processors, and one step from those to all else.
  void keep_what_is_reached(std::vector<bool>& kept) const {
    std::vector<bool> reached(kept.size(), false);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      reached[i] = kept[i] && topology_.devices()[i].kind == DeviceKind::gpu;
    }
    constexpr int kDeepest = 6;
    for (int step = 0; step < kDeepest; ++step) {
      for (const Link& link : topology_.links()) {
        const DeviceKind from = topology_.device(link.from).kind;
        const DeviceKind to = topology_.device(link.to).kind;
        const bool up = reached[link.from.index()] && to != DeviceKind::gpu && to != DeviceKind::nvswitch;
        const bool sideways = from == DeviceKind::cpu && to == DeviceKind::cpu;
        if (up && !sideways) reached[link.to.index()] = true;
      }
    }
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = reached[i] || topology_.devices()[i].node != node_;
  }

  void draw(const std::vector<DeviceId>& devices) {
    DrawnDevice drawn;
    drawn.kind = topology_.device(devices.front()).kind;
    drawn.count = devices.size();
    std::vector<std::string> names;
    for (const DeviceId id : devices) {
      drawn_as_[id.index()] = graph_.devices.size();
      const std::string& name = topology_.device(id).name;
      // Of a device of a box "node0." goes; of a switch of the network all is its name: "pod0.edge1".
      const std::size_t dot = drawn.kind == DeviceKind::network_switch ? std::string::npos : name.find('.');
      names.push_back(dot == std::string::npos ? name : name.substr(dot + 1));
    }
    drawn.name = name_ranges(names);
    if (drawn.kind == DeviceKind::gpu) drawn.detail = cards_[topology_.device(devices.front()).card];
    graph_.devices.push_back(std::move(drawn));
  }

  std::set<std::size_t> neighbours(DeviceId id) const {
    std::set<std::size_t> result;
    for (const Link& link : topology_.links()) {
      if (link.from == id) result.insert(link.to.index());
    }
    return result;
  }

  /// NVSwitches with the same neighbours are one.
  void draw_nvswitches() {
    std::map<std::set<std::size_t>, std::vector<DeviceId>> alike;
    for (std::size_t i = 0; i < topology_.devices().size(); ++i) {
      const Device& device = topology_.devices()[i];
      if (device.kind == DeviceKind::nvswitch && device.node == node_) alike[neighbours(DeviceId(i))].emplace_back(i);
    }
    for (const auto& [joined, devices] : alike) draw(devices);
  }

  /// Network switches as far from the adapters as each other are one.
  void draw_network() {
    std::vector<int> level(topology_.devices().size(), -1);
    std::vector<DeviceId> reached;
    const auto reach = [&](DeviceId id, int steps) {
      if (topology_.device(id).kind != DeviceKind::network_switch || level[id.index()] >= 0) return;
      level[id.index()] = steps;
      reached.push_back(id);
    };
    std::multimap<std::size_t, DeviceId> out;
    for (const Link& link : topology_.links()) {
      if (topology_.device(link.to).kind != DeviceKind::network_switch) continue;
      if (topology_.device(link.from).kind == DeviceKind::network_switch) {
        out.emplace(link.from.index(), link.to);
      } else {
        reach(link.to, 0);
      }
    }
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const auto [first, last] = out.equal_range(reached[i].index());
      for (auto next = first; next != last; ++next) reach(next->second, level[reached[i].index()] + 1);
    }
    std::map<int, std::vector<DeviceId>> levels;
    for (const DeviceId id : reached) levels[level[id.index()]].push_back(id);
    for (const auto& [steps, devices] : levels) {
      draw(devices);
      DrawnDevice& drawn = graph_.devices.back();
      drawn.level = steps;
      if (devices.size() > 1) drawn.detail = fmt::format("{} switches", devices.size());
    }
  }

  void add_links() {
    std::map<std::array<std::size_t, 2>, std::vector<std::size_t>> between;
    for (const Link& link : topology_.links()) {
      const std::size_t a = drawn_as_[link.from.index()];
      const std::size_t b = drawn_as_[link.to.index()];
      if (a == kNotDrawn || b == kNotDrawn || link.from > link.to) continue;
      add_link(link, std::min(a, b), std::max(a, b), between[{std::min(a, b), std::max(a, b)}]);
    }
  }

  void add_link(const Link& link, std::size_t a, std::size_t b, std::vector<std::size_t>& known) {
    const BytesPerSecond rate = topology_.channels()[link.channel.index()].rate;
    for (const std::size_t index : known) {
      DrawnLink& same = graph_.links[index];
      if (same.kind != link.kind || same.rate != rate) continue;
      same.count += 1;
      same.lanes += link.lanes;
      return;
    }
    known.push_back(graph_.links.size());
    const bool has_lanes = link.kind == "pcie" || link.kind == "nvlink" || link.lanes > 1;
    const std::string type = has_lanes ? fmt::format("{} x{}", link.type, link.lanes) : link.type;
    graph_.links.push_back({a, b, link.kind, type, link.lanes, rate, 1});
  }

  const Topology& topology_;
  const std::vector<std::string>& cards_;
  std::vector<std::size_t> drawn_as_;
  int node_ = 0;
  DrawnGraph graph_;
};

}  // namespace

DrawnGraph drawn_graph(const Cluster& cluster, const std::vector<std::string>& cards) {
  return Grapher(cluster, cards).graph();
}

std::string_view link_colour(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kColours = {{{"pcie", "#2f6db5"},
                                                                                      {"nvlink", "#4a9c2d"},
                                                                                      {"socket", "#c2651b"},
                                                                                      {"memory", "#7d838c"},
                                                                                      {"infiniband", "#8e44ad"},
                                                                                      {"ethernet", "#b03a7a"}}};
  const auto found = std::ranges::find(kColours, kind, &std::pair<std::string_view, std::string_view>::first);
  return found == kColours.end() ? "#333333" : found->second;
}

}  // namespace gpuscale
