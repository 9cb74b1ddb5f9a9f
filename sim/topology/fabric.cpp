#include "topology/fabric.hpp"

#include <algorithm>
#include <map>

#include "topology/fabric_parts.hpp"
#include "units/check.hpp"

namespace gpuscale {

namespace {

void add_graph(FabricParts& parts, const ClusterSpec& spec, AdaptersOfBoxes boxes) {
  const FabricSpec& fabric = *spec.fabric;
  std::map<std::string, DeviceId> devices;
  for (const std::string& name : fabric.switches) devices.emplace(name, parts.add_switch(name));
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    std::size_t adapter = 0;
    for (const DeviceSpec& device : spec.machine.devices) {
      if (device.kind != DeviceKind::nic) continue;
      devices.emplace("node" + std::to_string(box) + "." + device.name, boxes[box][adapter++]);
    }
  }
  for (const ConnectionSpec& connection : fabric.connections) {
    int switches = 0;
    for (const std::string* end : {&connection.from, &connection.to}) {
      check(devices.contains(*end), "the reader refuses a fabric with fabric_problems");
      switches += std::ranges::find(fabric.switches, *end) != fabric.switches.end() ? 1 : 0;
    }
    parts.connect(devices[connection.from], devices[connection.to], connection.type, connection.lanes, switches);
  }
}

}  // namespace

std::vector<DeviceId> FabricParts::add_switches(const std::string& name, int count) {
  std::vector<DeviceId> switches;
  switches.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) switches.push_back(add_switch(name + std::to_string(i)));
  return switches;
}

void FabricParts::connect_groups(DeviceId a, DeviceId b) {
  const LinkOfFabric link = fabric_->global_link ? *fabric_->global_link : uplink();
  connect(a, b, link.type, link.lanes, 2);
}

void FabricParts::connect(DeviceId a, DeviceId b, LinkType type, int lanes, int ends) {
  type.latency += fabric_->switch_latency * ends / 2;
  builder_->connect(a, b, type, lanes);
}

std::vector<DeviceId> all_adapters(AdaptersOfBoxes boxes) {
  std::vector<DeviceId> adapters;
  for (const std::vector<DeviceId>& box : boxes) adapters.insert(adapters.end(), box.begin(), box.end());
  return adapters;
}

void add_fabric(TopologyBuilder& builder, const ClusterSpec& spec, AdaptersOfBoxes boxes) {
  const FabricSpec& fabric = *spec.fabric;
  FabricParts parts(builder, fabric);
  builder.set_equal_cost(spec.equal_cost.value_or(fabric.equal_cost));
  switch (fabric.kind) {
    case FabricKind::single_switch: {
      const DeviceId only = parts.add_switch("switch");
      for (const DeviceId adapter : all_adapters(boxes)) parts.connect_adapter(adapter, only);
      return;
    }
    case FabricKind::leaf_spine:
      return add_leaf_spine(parts, fabric, boxes);
    case FabricKind::rail_optimised:
      return add_rail_optimised(parts, fabric, boxes);
    case FabricKind::fat_tree:
      return add_fat_tree(parts, fabric, boxes);
    case FabricKind::dragonfly:
      return add_dragonfly(parts, fabric, boxes);
    case FabricKind::torus:
      return add_torus(builder, spec, boxes);
    case FabricKind::graph:
      return add_graph(parts, spec, boxes);
  }
}

}  // namespace gpuscale
