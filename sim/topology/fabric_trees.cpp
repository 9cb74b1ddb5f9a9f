#include <algorithm>
#include <cmath>

#include "topology/fabric_parts.hpp"

namespace gpuscale {

namespace {

BytesPerSecond rate_of(const LinkType& type, int lanes) { return type.lane_rate * lanes * type.delivered; }

/// Links up from a leaf, dealt round the spines.
void join_by_spines(FabricParts& parts, const FabricSpec& fabric, const std::vector<DeviceId>& leaves,
                    std::int64_t adapters_below) {
  if (leaves.size() < 2) return;
  const auto uplinks = static_cast<int>(uplinks_of_leaf(fabric, adapters_below));
  const int count = fabric.spines > 0 ? fabric.spines : uplinks;
  const std::vector<DeviceId> spines = parts.add_switches("spine", count);
  for (const DeviceId leaf : leaves) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(uplinks, count)); ++i) {
      parts.connect_switches(leaf, spines[i % spines.size()]);
    }
  }
}

}  // namespace

std::int64_t uplinks_of_leaf(const FabricSpec& fabric, std::int64_t adapters) {
  const BytesPerSecond down = rate_of(fabric.link, fabric.lanes);
  const BytesPerSecond up = fabric.uplink ? rate_of(fabric.uplink->type, fabric.uplink->lanes) : down;
  const double links = static_cast<double>(adapters) * (down / up) / fabric.oversubscription;
  constexpr double kRounding = 1e-9;  // so that 32 adapters at 2 to 1 take 16 links, not 17
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(links * (1.0 - kRounding))));
}

void add_leaf_spine(FabricParts& parts, const FabricSpec& fabric, AdaptersOfBoxes boxes) {
  const std::vector<DeviceId> adapters = all_adapters(boxes);
  const auto ports = static_cast<std::size_t>(fabric.leaf_ports);
  const std::vector<DeviceId> leaves =
      parts.add_switches("leaf", static_cast<int>((adapters.size() + ports - 1) / ports));
  for (std::size_t i = 0; i < adapters.size(); ++i) parts.connect_adapter(adapters[i], leaves[i / ports]);
  join_by_spines(parts, fabric, leaves, fabric.leaf_ports);
}

/// Boxes in groups; in each group a leaf for the first adapter of every box, one for the second...
void add_rail_optimised(FabricParts& parts, const FabricSpec& fabric, AdaptersOfBoxes boxes) {
  const std::size_t rails = boxes.front().size();
  const auto group_size = static_cast<std::size_t>(fabric.leaf_boxes);
  std::vector<DeviceId> leaves;
  for (std::size_t group = 0; group * group_size < boxes.size(); ++group) {
    for (std::size_t rail = 0; rail < rails; ++rail) {
      leaves.push_back(parts.add_switch("rail" + std::to_string(rail) + ".leaf" + std::to_string(group)));
    }
  }
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    for (std::size_t rail = 0; rail < rails; ++rail) {
      parts.connect_adapter(boxes[box][rail], leaves[box / group_size * rails + rail]);
    }
  }
  join_by_spines(parts, fabric, leaves, fabric.leaf_boxes);
}

int fat_tree_ports(const FabricSpec& fabric, std::int64_t adapters) {
  if (fabric.ports > 0) return fabric.ports;
  std::int64_t ports = 2;
  while (ports * ports * ports / 4 < adapters) ports += 2;
  return static_cast<int>(ports);
}

/// Al-Fares et al., SIGCOMM 2008: pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches of
/// which each has a link to every pod. Pods and edge switches without adapters are left out.
void add_fat_tree(FabricParts& parts, const FabricSpec& fabric, AdaptersOfBoxes boxes) {
  const std::vector<DeviceId> adapters = all_adapters(boxes);
  const int half = fat_tree_ports(fabric, static_cast<std::int64_t>(adapters.size())) / 2;
  const auto width = static_cast<std::size_t>(half);
  const std::size_t edges = (adapters.size() + width - 1) / width;
  const std::size_t pods = (edges + width - 1) / width;
  const std::vector<DeviceId> cores = parts.add_switches("core", pods > 1 ? half * half : 0);
  std::vector<DeviceId> edge;
  for (std::size_t pod = 0; pod < pods; ++pod) {
    const std::string prefix = "pod" + std::to_string(pod) + ".";
    const std::vector<DeviceId> middle = parts.add_switches(prefix + "aggregation", edges > 1 ? half : 0);
    for (std::size_t i = 0; i < middle.size() && pods > 1; ++i) {
      for (std::size_t j = 0; j < width; ++j) parts.connect_switches(middle[i], cores[i * width + j]);
    }
    for (std::size_t i = 0; i < width && edge.size() < edges; ++i) {
      edge.push_back(parts.add_switch(prefix + "edge" + std::to_string(i)));
      for (const DeviceId up : middle) parts.connect_switches(edge.back(), up);
    }
  }
  for (std::size_t i = 0; i < adapters.size(); ++i) parts.connect_adapter(adapters[i], edge[i / width]);
}

}  // namespace gpuscale
