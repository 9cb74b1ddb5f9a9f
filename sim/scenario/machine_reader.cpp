#include "scenario/machine_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <vector>

#include "scenario/data_file.hpp"
#include "scenario/machine_draft.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

/// The machines that are being read because each is like the next.
using Chain = std::vector<DataSource>;

MachineSpec read_source(DataSource data, const std::string& path, LinkTypes& types, Chain& chain, Reading& reading);

/// One name for one file, however a path to it is written.
std::string file_of(const DataSource& data) {
  if (data.document == nullptr || !data.map->file) return "";
  std::error_code error;
  const std::filesystem::path file = std::filesystem::weakly_canonical(*data.map->file, error);
  return error ? *data.map->file : file.string();
}

/// What a machine is like. A machine that comes to be like itself is noted with the chain.
std::optional<MachineSpec> read_like(const YamlValue& value, LinkTypes& types, Chain& chain, Reading& reading) {
  std::optional<DataSource> data = find_data(value, kMachineFiles, reading);
  if (!data) return std::nullopt;
  constexpr std::size_t kLongestChain = 32;
  const std::string file = file_of(*data);
  const auto before =
      std::ranges::find_if(chain, [&](const DataSource& other) { return !file.empty() && file_of(other) == file; });
  if (before != chain.end() || chain.size() >= kLongestChain) {
    std::string way;
    for (const DataSource& other : chain) way += other.id + " -> ";
    reading.note(value.place(),
                 before != chain.end()
                     ? fmt::format("a machine cannot be like itself: {}{}", way, data->id)
                     : fmt::format("more than {} machines are each like the next: {}...", kLongestChain, way));
    return std::nullopt;
  }
  return read_source(std::move(*data), "-", types, chain, reading);
}

void check_has_gpu(const MachineDraft& draft, const Place& place, Reading& reading) {
  const std::vector<DeviceSpec>& devices = draft.machine().devices;
  if (std::ranges::find(devices, DeviceKind::gpu, &DeviceSpec::kind) != devices.end()) return;
  reading.note(place, "the machine has no device of kind gpu");
}

MachineSpec read_source(DataSource data, const std::string& path, LinkTypes& types, Chain& chain, Reading& reading) {
  const std::size_t problems_before = reading.problems().size();
  const auto is_sound = [&] { return reading.problems().size() == problems_before; };
  chain.push_back(data);
  MapReader reader(*data.map, "machine", path, reading);
  MachineDraft draft(reading);
  DataHead head = read_head(reader, data);
  const YamlValue* like = reader.find("like");
  bool has_base = like == nullptr;
  if (like != nullptr) {
    if (std::optional<MachineSpec> base = read_like(*like, types, chain, reading)) {
      has_base = is_sound();
      draft.start_from(std::move(*base));
    }
  }
  const bool gpudirect = reader.boolean_or("gpudirect", draft.machine().gpudirect);
  const YamlValue* removals = reader.find("remove");
  if (removals != nullptr && like == nullptr)
    reading.note(removals->place(), "'remove' takes from the machine that this one is 'like'; say which");
  if (removals != nullptr && like != nullptr && has_base) draft.read_removals(*removals);
  const YamlValue* devices = like != nullptr
                                 ? reader.find("devices")
                                 : reader.require("devices", "{cpu0: {kind: cpu}, \"gpu[0-3]\": {kind: gpu}}");
  if (devices != nullptr) draft.read_devices(*devices, reader.path("devices.NAME"));
  if (devices != nullptr && devices->is_map() && draft.complete() && is_sound())
    check_has_gpu(draft, devices->place(), reading);
  const YamlValue* links =
      like != nullptr ? reader.find("links") : reader.require("links", "[{between: [gpu0, cpu0], type: pcie-3 x16}]");
  // Without the machine it is like, every name of a link would be unknown.
  if (links != nullptr && has_base) draft.read_links(*links, reader.path("links[]"), types);
  reader.finish();
  const bool is_whole = like != nullptr || links != nullptr;
  if (is_whole && is_sound()) draft.check_joined(links != nullptr ? links->place() : data.map->place());
  chain.pop_back();
  MachineSpec machine = draft.take();
  machine.id = data.id;
  machine.name = std::move(head.name);
  machine.source = std::move(head.source);
  machine.gpudirect = gpudirect;
  machine.place = data.map->place();
  return machine;
}

}  // namespace

MachineSpec read_machine(const YamlValue& value, const std::string& path, LinkTypes& types, Reading& reading) {
  std::optional<DataSource> data = find_data(value, kMachineFiles, reading);
  Chain chain;
  return data ? read_source(std::move(*data), path, types, chain, reading) : MachineSpec{};
}

}  // namespace gpuscale
