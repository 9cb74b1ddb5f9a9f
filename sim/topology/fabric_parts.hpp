#pragma once

/// \file
/// What the generators of fabrics share: not for other folders.

#include <cstdint>
#include <string>
#include <vector>

#include "topology/fabric.hpp"

namespace gpuscale {

/// Adds switches and links of a fabric; a crossing of a switch is counted half on the way in and half on
/// the way out.
class FabricParts {
 public:
  FabricParts(TopologyBuilder& builder, const FabricSpec& fabric) : builder_(&builder), fabric_(&fabric) {}

  DeviceId add_switch(const std::string& name) {
    return builder_->add({.name = name, .kind = DeviceKind::network_switch, .node = -1});
  }
  std::vector<DeviceId> add_switches(const std::string& name, int count);
  void connect_adapter(DeviceId adapter, DeviceId to) { connect(adapter, to, fabric_->link, fabric_->lanes, 1); }
  void connect_switches(DeviceId a, DeviceId b) { connect(a, b, uplink().type, uplink().lanes, 2); }
  void connect_groups(DeviceId a, DeviceId b);
  /// A link with `ends` switches at its ends: 0, 1 or 2.
  void connect(DeviceId a, DeviceId b, LinkType type, int lanes, int ends);

 private:
  [[nodiscard]] LinkOfFabric uplink() const {
    return fabric_->uplink ? *fabric_->uplink : LinkOfFabric{fabric_->link, fabric_->lanes};
  }

  TopologyBuilder* builder_;
  const FabricSpec* fabric_;
};

/// Links up from a leaf with this many adapters, so that its oversubscription is not exceeded.
std::int64_t uplinks_of_leaf(const FabricSpec& fabric, std::int64_t adapters);

/// The fewest even ports with which a fat tree holds so many adapters.
int fat_tree_ports(const FabricSpec& fabric, std::int64_t adapters);

/// The shape of a dragonfly, defaults filled in.
struct DragonflyShape {
  std::int64_t adapters = 1;      ///< at a router
  std::int64_t routers = 1;       ///< in a group
  std::int64_t global_links = 1;  ///< of a router
  std::int64_t groups = 1;
};
DragonflyShape dragonfly_shape(const FabricSpec& fabric, std::int64_t adapters);

void add_leaf_spine(FabricParts& parts, const FabricSpec& fabric, AdaptersOfBoxes boxes);
void add_rail_optimised(FabricParts& parts, const FabricSpec& fabric, AdaptersOfBoxes boxes);
void add_fat_tree(FabricParts& parts, const FabricSpec& fabric, AdaptersOfBoxes boxes);
void add_dragonfly(FabricParts& parts, const FabricSpec& fabric, AdaptersOfBoxes boxes);
void add_torus(TopologyBuilder& builder, const ClusterSpec& spec, AdaptersOfBoxes boxes);

/// The position in a torus of an adapter of a box.
std::size_t torus_position(const FabricSpec& fabric, std::size_t box, std::size_t adapter);

/// All adapters, box by box.
std::vector<DeviceId> all_adapters(AdaptersOfBoxes boxes);

}  // namespace gpuscale
