#include "scenario/cluster_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string_view>

#include "scenario/cooling_reader.hpp"
#include "scenario/data_file.hpp"
#include "scenario/fabric_reader.hpp"
#include "scenario/gpu_reader.hpp"
#include "scenario/link_reader.hpp"
#include "scenario/machine_reader.hpp"
#include "scenario/map_reader.hpp"
#include "topology/fabric.hpp"

namespace gpuscale {

namespace {

/// A card runs at the slower of what it speaks and what its slot has.
void fit_host_bus(ClusterSpec& cluster, const YamlValue& gpu_value, LinkTypes& types, Reading& reading) {
  YamlValue text = gpu_value;
  text.kind = YamlKind::scalar;
  text.text = fmt::format("{} x{}", cluster.gpu.host_bus.type, cluster.gpu.host_bus.lanes);
  const std::optional<LinkOfType> bus = types.read(text, reading);
  if (!bus) return;
  std::set<std::string_view> gpus;
  for (const DeviceSpec& device : cluster.machine.devices) {
    if (device.kind == DeviceKind::gpu) gpus.insert(device.name);
  }
  for (ConnectionSpec& connection : cluster.machine.connections) {
    if (connection.type.kind != "pcie" || (!gpus.contains(connection.from) && !gpus.contains(connection.to))) continue;
    if (bus->type.lane_rate < connection.type.lane_rate) connection.type = bus->type;
    connection.lanes = std::min(connection.lanes, bus->lanes);
  }
}

std::optional<bool> read_switch(MapReader& reader, std::string_view key) {
  return reader.find(key) == nullptr ? std::nullopt : std::optional<bool>(reader.boolean_or(key, true));
}

}  // namespace

ClusterSpec read_cluster(const YamlValue& value, Reading& reading) {
  ClusterSpec cluster;
  MapReader reader(value, "cluster", "cluster", reading);
  std::optional<DataSource> data;
  std::optional<MapReader> file;
  if (const YamlValue* name = reader.find("name")) {
    data = find_data(*name, kClusterFiles, reading);
    if (data) {
      file.emplace(*data->map, "cluster file", "-", reading);
      static_cast<void>(read_head(*file, *data));
    }
  }
  // A key of the scenario comes before that of the file.
  const auto find = [&](std::string_view key) {
    const YamlValue* in_file = file ? file->find(key) : nullptr;
    const YamlValue* written = reader.find(key);
    if (value.find(key) != nullptr || in_file == nullptr) return written;
    reading.found(fmt::format("cluster.{}", key), in_file->place());
    return in_file;
  };
  const auto require = [&](std::string_view key, std::string_view example) {
    const YamlValue* found = find(key);
    const bool in_file = file && file->map().find(key) != nullptr;
    const bool file_failed = value.find("name") != nullptr && !data;
    if (found == nullptr && value.find(key) == nullptr && !in_file && !file_failed) reader.require(key, example);
    return found;
  };

  LinkTypes types;
  const std::size_t problems_before = reading.problems().size();
  const YamlValue* machine = require("machine", "workstation-4x-pcie3-x8");
  if (machine != nullptr) cluster.machine = read_machine(*machine, "cluster.machine", types, reading);
  const YamlValue* gpu = require("gpu", "gtx-1080-ti");
  if (gpu != nullptr) cluster.gpu = read_gpu(*gpu, "cluster.gpu", reading);
  const bool hardware_holds = machine != nullptr && gpu != nullptr && reading.problems().size() == problems_before;
  if (hardware_holds) fit_host_bus(cluster, *gpu, types, reading);
  cluster.gpus = static_cast<int>(reader.whole("gpus", 1, kMostGpus));
  if (const YamlValue* nodes = find("nodes")) {
    cluster.nodes = static_cast<int>(read_whole(*nodes, 1, kMostGpus, reading).value_or(1));
  }
  if (const YamlValue* fabric = find("fabric")) {
    cluster.fabric = read_fabric(*fabric, "cluster.fabric", types, reading);
  }
  cluster.placement = static_cast<Placement>(reader.choice_or("placement", kPlacementNames, 0));
  cluster.peer_to_peer = read_switch(reader, "peer_to_peer");
  cluster.gpudirect = read_switch(reader, "gpudirect");
  if (const YamlValue* equal_cost = reader.find("equal_cost")) {
    cluster.equal_cost = read_equal_cost(*equal_cost, reader.path("equal_cost"), reading);
  }
  // A block of a torus that is not given lies along its last dimension.
  if (cluster.fabric && cluster.fabric->kind == FabricKind::torus && cluster.fabric->block.empty()) {
    cluster.fabric->block.assign(cluster.fabric->size.size(), 1);
    if (!cluster.fabric->block.empty()) cluster.fabric->block.back() = adapters_per_box(cluster.machine);
  }
  read_surroundings(reader, cluster);
  reader.finish();
  if (file) file->finish();
  return cluster;
}

}  // namespace gpuscale
