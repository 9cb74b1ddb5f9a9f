#include <algorithm>
#include <set>
#include <utility>

#include "topology/fabric_parts.hpp"

namespace gpuscale {

DragonflyShape dragonfly_shape(const FabricSpec& fabric, std::int64_t adapters) {
  DragonflyShape shape;
  shape.adapters = fabric.adapters;
  shape.routers = fabric.routers > 0 ? fabric.routers : 2 * shape.adapters;
  shape.global_links = fabric.global_links > 0 ? fabric.global_links : shape.adapters;
  const std::int64_t group = shape.adapters * shape.routers;
  shape.groups = (adapters + group - 1) / group;
  return shape;
}

/// Kim et al., ISCA 2008: the routers of a group are all linked, and every group with every other by as
/// many links as the routers' ports allow, those of one pair on different routers.
void add_dragonfly(FabricParts& parts, const FabricSpec& fabric, AdaptersOfBoxes boxes) {
  const std::vector<DeviceId> adapters = all_adapters(boxes);
  const DragonflyShape shape = dragonfly_shape(fabric, static_cast<std::int64_t>(adapters.size()));
  const auto routers = static_cast<std::size_t>(shape.routers);
  const auto groups = static_cast<std::size_t>(shape.groups);
  std::vector<std::vector<DeviceId>> group(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    group[g] = parts.add_switches("group" + std::to_string(g) + ".router", static_cast<int>(routers));
    for (std::size_t a = 0; a < routers; ++a) {
      for (std::size_t b = a + 1; b < routers; ++b) parts.connect_switches(group[g][a], group[g][b]);
    }
  }
  const std::size_t copies = groups > 1 ? routers * static_cast<std::size_t>(shape.global_links) / (groups - 1) : 0;
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t other = g + 1; other < groups; ++other) {
      const std::size_t ahead = other - g - 1;              // which of the groups after g it is
      const std::size_t behind = groups - (other - g) - 1;  // and which after the other g is
      for (std::size_t copy = 0; copy < copies; ++copy) {
        parts.connect_groups(group[g][(ahead * copies + copy) % routers],
                             group[other][(behind * copies + copy) % routers]);
      }
    }
  }
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    const std::size_t router = i / static_cast<std::size_t>(shape.adapters);
    parts.connect_adapter(adapters[i], group[router / routers][router % routers]);
  }
}

std::size_t torus_position(const FabricSpec& fabric, std::size_t box, std::size_t adapter) {
  std::size_t position = 0;
  std::size_t stride = 1;
  for (std::size_t dimension = fabric.size.size(); dimension-- > 0;) {
    const auto length = static_cast<std::size_t>(fabric.size[dimension]);
    const auto block = static_cast<std::size_t>(fabric.block[dimension]);
    const std::size_t blocks = length / block;
    position += (box % blocks * block + adapter % block) * stride;
    box /= blocks;
    adapter /= block;
    stride *= length;
  }
  return position;
}

namespace {

/// Pairs of adapters of one box, by their order in it, that the machine file links itself.
std::set<std::pair<std::size_t, std::size_t>> linked_in_box(const MachineSpec& machine) {
  std::vector<std::string> names;
  for (const DeviceSpec& device : machine.devices) {
    if (device.kind == DeviceKind::nic) names.push_back(device.name);
  }
  std::set<std::pair<std::size_t, std::size_t>> linked;
  for (const ConnectionSpec& connection : machine.connections) {
    const auto from = std::ranges::find(names, connection.from);
    const auto to = std::ranges::find(names, connection.to);
    if (from == names.end() || to == names.end()) continue;
    const std::pair<std::size_t, std::size_t> pair(from - names.begin(), to - names.begin());
    linked.insert(std::minmax(pair.first, pair.second));
  }
  return linked;
}

}  // namespace

/// Adapters are the positions and forward for others; what the machine links in its box is not linked
/// again. A dimension of two positions has one link between them, not two.
void add_torus(TopologyBuilder& builder, const ClusterSpec& spec, AdaptersOfBoxes boxes) {
  const FabricSpec& fabric = *spec.fabric;
  FabricParts parts(builder, fabric);
  const std::set<std::pair<std::size_t, std::size_t>> in_box = linked_in_box(spec.machine);
  struct Seat {
    DeviceId device;
    std::size_t box = 0;
    std::size_t adapter = 0;
  };
  std::vector<Seat> seats(all_adapters(boxes).size());
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    for (std::size_t i = 0; i < boxes[box].size(); ++i) seats[torus_position(fabric, box, i)] = {boxes[box][i], box, i};
  }
  std::size_t stride = 1;
  for (std::size_t dimension = fabric.size.size(); dimension-- > 0;) {
    const auto length = static_cast<std::size_t>(fabric.size[dimension]);
    for (std::size_t position = 0; position < seats.size(); ++position) {
      const std::size_t along = position / stride % length;
      const bool is_last = along + 1 == length;
      if (is_last && (!fabric.wrap || length <= 2)) continue;
      const Seat& here = seats[position];
      const Seat& next = seats[is_last ? position - along * stride : position + stride];
      const bool is_there = here.box == next.box && in_box.contains(std::minmax(here.adapter, next.adapter));
      if (!is_there) parts.connect(here.device, next.device, fabric.link, fabric.lanes, 2);
    }
    stride *= length;
  }
  TorusGrid grid{.size = fabric.size, .wrap = fabric.wrap, .adapter = {}};
  for (const Seat& seat : seats) grid.adapter.push_back(seat.device);
  builder.set_torus(std::move(grid));
}

}  // namespace gpuscale
