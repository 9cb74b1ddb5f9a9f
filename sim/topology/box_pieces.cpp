#include "topology/box_pieces.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "units/sort_unique.hpp"

namespace gpuscale {

BoxPieces::BoxPieces(const BoxShape& shape) : kinds_(shape.kinds), touches_(shape.kinds.size()) {
  std::vector<std::uint32_t> root(kinds_.size());
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](std::uint32_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (const BoxLink& link : shape.links) {
    if (forwards(kinds_[link.from]) && forwards(kinds_[link.to])) root[find(link.from)] = find(link.to);
  }
  for (const BoxLink& link : shape.links) {
    if (!forwards(kinds_[link.from])) touches_[link.from].push_back(find(link.to));
  }
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
    if (forwards(kinds_[i])) touches_[i].push_back(find(i));
    if (kinds_[i] == DeviceKind::gpu) gpus_.push_back(i);
    sort_unique(touches_[i]);
  }
}

bool BoxPieces::meet(std::uint32_t a, std::uint32_t b) const {
  return std::ranges::any_of(touches_[a], [&](std::uint32_t piece) {
    return piece == b || (forwards(kinds_[piece]) && std::ranges::binary_search(touches_[b], piece));
  });
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> BoxPieces::apart() const {
  // As a rule one piece joins all, and then there is no need to look at every pair.
  std::map<std::uint32_t, std::size_t> users;
  for (const std::uint32_t gpu : gpus_) {
    for (const std::uint32_t piece : touches_[gpu]) users[piece] += forwards(kinds_[piece]) ? 1 : 0;
  }
  if (std::ranges::any_of(users, [&](const auto& use) { return use.second == gpus_.size(); })) return std::nullopt;
  for (const std::uint32_t a : gpus_) {
    for (const std::uint32_t b : gpus_) {
      if (a != b && !meet(a, b)) return std::pair{a, b};
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> BoxPieces::gpu_without(DeviceKind kind) const {
  std::set<std::uint32_t> of_kind;  // pieces, and devices themselves for direct links
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != kind) continue;
    of_kind.insert(i);
    for (const std::uint32_t piece : touches_[i]) {
      if (forwards(kinds_[piece])) of_kind.insert(piece);
    }
  }
  for (const std::uint32_t gpu : gpus_) {
    if (std::ranges::none_of(touches_[gpu], [&](std::uint32_t piece) { return of_kind.contains(piece); })) return gpu;
  }
  return std::nullopt;
}

std::vector<Problem> reach_problems(const ClusterSpec& spec) {
  const std::vector<DeviceSpec>& devices = spec.machine.devices;
  std::map<std::string, std::uint32_t> index;
  BoxShape shape;
  for (const DeviceSpec& device : devices) {
    index.emplace(device.name, static_cast<std::uint32_t>(index.size()));
    shape.kinds.push_back(device.kind);
  }
  for (const ConnectionSpec& connection : spec.machine.connections) {
    const auto from = index.find(connection.from);
    const auto to = index.find(connection.to);
    if (from == index.end() || to == index.end()) continue;
    shape.links.push_back({from->second, to->second, 0, false});
    shape.links.push_back({to->second, from->second, 0, false});
  }
  const BoxPieces pieces(shape);
  std::vector<Problem> problems;
  if (const auto pair = pieces.apart()) {
    problems.push_back({devices[pair->first].place,
                        "no way for a copy from '" + devices[pair->first].name + "' to '" + devices[pair->second].name +
                            "': a gpu and a memory do not forward; join them by a switch, a "
                            "cpu or a link of their own"});
  }
  const bool cards_copy = spec.gpu.peer_to_peer &&
                          std::ranges::all_of(spec.other_cards, [](const CardKind& k) { return k.gpu.peer_to_peer; });
  const bool copies_itself = spec.peer_to_peer.value_or(cards_copy);
  const auto lonely = copies_itself ? std::nullopt : pieces.gpu_without(DeviceKind::memory);
  if (lonely) {
    problems.push_back(
        {devices[*lonely].place, "'" + devices[*lonely].name +
                                     "' reaches no device of kind memory, and without peer-to-peer its "
                                     "copies go through one; add 'memory0: {kind: memory}' and its link"});
  }
  const bool has_adapters = std::ranges::find(devices, DeviceKind::nic, &DeviceSpec::kind) != devices.end();
  const auto cut_off = spec.nodes > 1 && has_adapters ? pieces.gpu_without(DeviceKind::nic) : std::nullopt;
  if (cut_off) {
    problems.push_back({devices[*cut_off].place, "'" + devices[*cut_off].name +
                                                     "' reaches no device of kind nic over devices that forward, and "
                                                     "there are " +
                                                     std::to_string(spec.nodes) +
                                                     " nodes; link one to a switch or a cpu"});
  }
  return problems;
}

}  // namespace gpuscale
