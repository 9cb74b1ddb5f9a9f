#include "scenario/cluster_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "scenario/card_reader.hpp"
#include "scenario/cooling_reader.hpp"
#include "scenario/data_file.hpp"
#include "scenario/fabric_reader.hpp"
#include "scenario/link_reader.hpp"
#include "scenario/machine_reader.hpp"
#include "scenario/map_reader.hpp"
#include "topology/cards.hpp"
#include "topology/fabric.hpp"

namespace gpuscale {

namespace {

int slots(const ClusterSpec& cluster) {
  const auto here = std::ranges::count(cluster.machine.devices, DeviceKind::gpu, &DeviceSpec::kind);
  return static_cast<int>(here) * cluster.nodes;
}

std::optional<bool> read_switch(MapReader& reader, std::string_view key) {
  return reader.find(key) == nullptr ? std::nullopt : std::optional<bool>(reader.boolean_or(key, true));
}

}  // namespace

ClusterSpec read_cluster(const YamlValue& value, Reading& reading, MissingGpus missing) {
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
  std::optional<CardReader> cards;
  if (gpu != nullptr) cards.emplace(*gpu, reading).read_kinds(cluster);
  const auto all_sound = [&] { return machine != nullptr && cards && reading.problems().size() == problems_before; };
  if (all_sound()) cards->read_buses(cluster, types);
  const bool all_gpus = missing == MissingGpus::all_slots && value.find("gpus") == nullptr;
  if (!all_gpus) cluster.gpus = static_cast<int>(reader.whole("gpus", 1, kMostGpus));
  if (const YamlValue* nodes = find("nodes")) {
    cluster.nodes = static_cast<int>(read_whole(*nodes, 1, kMostGpus, reading).value_or(1));
  }
  if (all_gpus) cluster.gpus = std::max(1, slots(cluster));
  if (const YamlValue* fabric = find("fabric")) {
    cluster.fabric = read_fabric(*fabric, "cluster.fabric", types, reading);
  }
  cluster.placement = static_cast<Placement>(reader.choice_or("placement", kPlacementNames, 0));
  if (all_sound()) cards->place_cards(cluster);
  if (all_sound() && cluster.gpus <= slots(cluster)) keep_cards_in_use(cluster);
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
