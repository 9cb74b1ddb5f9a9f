#include "study/device_joins.hpp"

#include <algorithm>
#include <array>

namespace gpuscale {

namespace {

constexpr std::array<std::string_view, 8> kWords = {"X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS", "NET"};
constexpr std::array<std::string_view, 8> kMeanings = {
    "the device itself",
    "that many NVLinks side by side, directly or through an NVSwitch",
    "PCIe through one switch",
    "PCIe through several switches, not through a processor",
    "PCIe through the root complex of a processor",
    "PCIe through several root complexes of one socket",
    "PCIe and the link between sockets",
    "the network between boxes"};

bool is_network(const Link& link) {
  return link.kind == "infiniband" || link.kind == "ethernet" || link.kind == "fabric";
}

}  // namespace

std::string_view meaning(JoinKind kind) { return kMeanings[static_cast<std::size_t>(kind)]; }

std::string Join::text() const {
  std::string word(kWords[static_cast<std::size_t>(kind)]);
  return kind == JoinKind::nvlink ? word + std::to_string(nvlinks) : word;
}

DeviceJoins::DeviceJoins(const Topology& topology) : topology_(&topology), out_(topology.devices().size()) {
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    out_[topology.links()[i].from.index()].emplace_back(i);
  }
}

/// Breadth first over everything but NVLink and the network; cards, memories and adapters end a way.
const std::vector<DeviceJoins::Way>& DeviceJoins::ways_from(DeviceId start) {
  const auto [position, is_new] = ways_.try_emplace(start, topology_->devices().size());
  std::vector<Way>& ways = position->second;
  if (!is_new) return ways;
  std::vector<DeviceId> reached{start};
  ways[start.index()].hops = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const DeviceId at = reached[i];
    const DeviceKind kind = topology_->device(at).kind;
    const bool forwards = kind == DeviceKind::cpu || kind == DeviceKind::pcie_switch;
    if (!forwards && at != start) continue;
    for (const LinkId id : out_[at.index()]) {
      const Link& link = topology_->links()[id.index()];
      Way& next = ways[link.to.index()];
      if (next.hops >= 0 || link.kind == "nvlink" || is_network(link)) continue;
      next = ways[at.index()];
      next.hops += 1;
      next.switches += at != start && kind == DeviceKind::pcie_switch ? 1 : 0;
      next.cpus += at != start && kind == DeviceKind::cpu ? 1 : 0;
      const bool both_cpus = kind == DeviceKind::cpu && topology_->device(link.to).kind == DeviceKind::cpu;
      next.between_sockets = next.between_sockets || (both_cpus && link.kind == "socket");
      reached.push_back(link.to);
    }
  }
  return ways;
}

/// Direct links, or the links that both have to the same NVSwitches.
int DeviceJoins::nvlinks(DeviceId from, DeviceId to) const {
  int direct = 0;
  int switched = 0;
  for (const LinkId id : out_[from.index()]) {
    const Link& link = topology_->links()[id.index()];
    if (link.kind != "nvlink") continue;
    if (link.to == to) direct += link.lanes;
    if (topology_->device(link.to).kind != DeviceKind::nvswitch) continue;
    for (const LinkId onward : out_[link.to.index()]) {
      const Link& last = topology_->links()[onward.index()];
      if (last.to == to && last.kind == "nvlink") switched += std::min(link.lanes, last.lanes);
    }
  }
  return direct > 0 ? direct : switched;
}

Join DeviceJoins::between(DeviceId from, DeviceId to) {
  if (from == to) return {JoinKind::self};
  if (const int links = nvlinks(from, to); links > 0) return {JoinKind::nvlink, links};
  if (topology_->device(from).node != topology_->device(to).node) return {JoinKind::net};
  const Way& way = ways_from(from)[to.index()];
  if (way.hops < 0) return {JoinKind::net};
  if (way.between_sockets) return {JoinKind::sys};
  if (way.cpus > 1) return {JoinKind::node};
  if (way.cpus == 1) return {JoinKind::phb};
  return {way.switches > 1 ? JoinKind::pxb : JoinKind::pix};
}

DeviceId DeviceJoins::cpu_of(DeviceId device) {
  const std::vector<Way>& ways = ways_from(device);
  DeviceId nearest;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (topology_->devices()[i].kind != DeviceKind::cpu || ways[i].hops < 0) continue;
    if (!nearest.valid() || ways[i].hops < ways[nearest.index()].hops) nearest = DeviceId(i);
  }
  return nearest;
}

}  // namespace gpuscale
