#include <algorithm>
#include <fmt/format.h>

#include "catalogue.hpp"
#include "catalogue_cells.hpp"
#include "scenario/fabric_reader.hpp"
#include "scenario/gpu_reader.hpp"
#include "scenario/link_reader.hpp"
#include "scenario/machine_reader.hpp"
#include "scenario/yaml_parse.hpp"

namespace gpuscale::tool {

namespace {

/// The root of a file of the library, or null with the problems noted.
const YamlValue* root_of(std::string_view folder, const YamlValue& name, Reading& reading) {
  const std::shared_ptr<const YamlDocument> document =
      reading.library().document(reading.library().find(folder, name.text));
  reading.note(document->problems);
  return document->problems.empty() ? &document->root : nullptr;  // the library keeps the document
}

std::string text_at(const YamlValue& map, std::string_view key, std::string_view otherwise) {
  const YamlEntry* entry = map.find(key);
  return std::string(entry == nullptr || !entry->value.is_scalar() ? otherwise : std::string_view(entry->value.text));
}

std::string lanes_text(int lanes) { return lanes > 1 ? fmt::format(" x{}", lanes) : std::string(); }

}  // namespace

Catalogue list_gpus(const Library& library) {
  return read_catalogue(library, "topologies/gpus",
                        {{"name", "name", false},
                         {"card", "description", false, 9},
                         {"launched", "launched", false, 1},
                         {"memory", "memory_bytes"},
                         {"bandwidth", "memory_bytes_per_s"},
                         {"fp32", "fp32_flop_per_s"},
                         {"fp16 matrix", "fp16_matrix_flop_per_s", true, 2},
                         {"bus", "host_bus", false, 3},
                         {"p2p", "peer_to_peer", false, 4},
                         {"price", "price_usd", true, 5}},
                        [](const YamlValue& name, Reading& reading) -> std::vector<Cell> {
                          const Gpu gpu = read_gpu(name, "cluster.gpu", reading);
                          return {cell(gpu.id),
                                  cell(gpu.name),
                                  cell(gpu.launched),
                                  cell(gpu.memory_size),
                                  cell(gpu.memory_bandwidth),
                                  cell(rate_at(gpu.peak, Precision::fp32)),
                                  cell(rate_at(gpu.matrix, Precision::fp16)),
                                  cell(gpu.host_bus.type + lanes_text(gpu.host_bus.lanes)),
                                  yes_no(gpu.peer_to_peer),
                                  cell(gpu.price)};
                        });
}

Catalogue list_links(const Library& library) {
  const auto row = [](const YamlValue& name, Reading& reading) -> std::vector<Cell> {
    const YamlValue* root = root_of("topologies/links", name, reading);
    if (root == nullptr) return {};
    YamlValue choice = name;
    const YamlEntry* lanes = root->find("lanes");
    if (lanes != nullptr && !lanes->value.items.empty()) choice.text += " x" + lanes->value.items.back().text;
    LinkTypes types;
    const std::optional<LinkOfType> link = types.read(choice, reading);
    if (!link) return {};
    const BytesPerSecond rate = link->type.lane_rate * link->lanes;
    return {cell(name.text),
            cell(link->type.name),
            cell(link->type.kind),
            lanes == nullptr ? Cell{"-", {}} : cell(std::int64_t{link->lanes}),
            cell(rate),
            cell(rate * link->type.delivered),
            cell(link->type.latency)};
  };
  return read_catalogue(library, "topologies/links",
                        {{"name", "name", false},
                         {"link", "description", false},
                         {"kind", "kind", false},
                         {"lanes to", "lanes"},
                         {"one way", "bytes_per_s"},
                         {"delivered", "delivered_bytes_per_s"},
                         {"latency", "latency_s"}},
                        row);
}

Catalogue list_machines(const Library& library) {
  const auto row = [](const YamlValue& name, Reading& reading) -> std::vector<Cell> {
    LinkTypes types;
    const MachineSpec machine = read_machine(name, "cluster.machine", types, reading);
    const auto count = [&](DeviceKind kind) {
      return cell(static_cast<std::int64_t>(std::ranges::count(machine.devices, kind, &DeviceSpec::kind)));
    };
    return {cell(machine.id),       cell(machine.name),
            count(DeviceKind::gpu), count(DeviceKind::cpu),
            count(DeviceKind::nic), cell(static_cast<std::int64_t>(machine.connections.size()))};
  };
  return read_catalogue(library, "topologies/machines",
                        {{"name", "name", false},
                         {"box", "description", false},
                         {"GPUs", "gpus"},
                         {"CPUs", "cpus"},
                         {"NICs", "nics"},
                         {"links", "links"}},
                        row);
}

Catalogue list_fabrics(const Library& library) {
  const auto row = [](const YamlValue& name, Reading& reading) -> std::vector<Cell> {
    LinkTypes types;
    const std::optional<FabricSpec> fabric = read_fabric(name, "cluster.fabric", types, reading);
    if (!fabric) return {};
    const BytesPerSecond rate = fabric->link.lane_rate * fabric->lanes;
    return {cell(fabric->id),
            cell(fabric->name),
            cell(fabric->link.id + lanes_text(fabric->lanes)),
            cell(rate),
            cell(rate * fabric->link.delivered),
            cell(fabric->switch_latency)};
  };
  return read_catalogue(library, "topologies/fabrics",
                        {{"name", "name", false},
                         {"fabric", "description", false},
                         {"link", "link", false},
                         {"one way", "bytes_per_s"},
                         {"delivered", "delivered_bytes_per_s"},
                         {"switch", "switch_latency_s"}},
                        row);
}

Catalogue list_clusters(const Library& library) {
  const auto row = [](const YamlValue& name, Reading& reading) -> std::vector<Cell> {
    const YamlValue* root = root_of("topologies/clusters", name, reading);
    if (root == nullptr) return {};
    return {cell(name.text),
            cell(text_at(*root, "name", "-")),
            cell(text_at(*root, "machine", "inline")),
            cell(text_at(*root, "gpu", "-")),
            cell(text_at(*root, "nodes", "-")),
            cell(text_at(*root, "fabric", "-"))};
  };
  return read_catalogue(library, "topologies/clusters",
                        {{"name", "name", false},
                         {"cluster", "description", false},
                         {"machine", "machine", false},
                         {"GPU", "gpu", false},
                         {"nodes", "nodes"},
                         {"fabric", "fabric", false}},
                        row);
}

}  // namespace gpuscale::tool
