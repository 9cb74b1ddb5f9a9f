#include "scenario/cooling_reader.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "hardware/spread.hpp"
#include "topology/cards.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::int64_t kMostNeighbours = 15;
constexpr std::array<std::string_view, 7> kLinkKinds = {"pcie",       "nvlink",   "socket", "memory",
                                                        "infiniband", "ethernet", "fabric"};

/// Cards of the job in a box besides one.
int usual_neighbours(const ClusterSpec& cluster) {
  const auto slots = std::ranges::count(cluster.machine.devices, DeviceKind::gpu, &DeviceSpec::kind);
  const auto in_box = std::min<std::int64_t>(slots, cluster.gpus);
  return static_cast<int>(std::clamp<std::int64_t>(in_box - 1, 0, kMostNeighbours));
}

/// How one kind of card is cooled; its own cooler unless one is written.
Cooling cooling_of(const Gpu& gpu, const YamlValue& value, const Cooling& usual, MapReader& reader) {
  Cooling cooling = usual;
  cooling.cooler = gpu.cooler.value_or(Cooler::blower);
  if (value.is_scalar()) {
    const auto cooler = read_choice(value, "cooler", kCoolerNames, reader.reading());
    if (cooler) cooling.cooler = static_cast<Cooler>(*cooler);
    return cooling;
  }
  MapReader map(value, "cooling", reader.path("cooling"), reader.reading());
  if (map.find("cooler") != nullptr || !gpu.cooler) {
    cooling.cooler = static_cast<Cooler>(map.choice("cooler", kCoolerNames));
  }
  cooling.neighbours = static_cast<int>(map.whole_or("neighbours", cooling.neighbours, 0, kMostNeighbours));
  map.finish();
  return cooling;
}

void read_cooling(MapReader& reader, ClusterSpec& cluster) {
  const YamlValue* value = reader.find("cooling");
  if (value == nullptr) return;
  const Cooling usual{.cooler = Cooler::blower, .neighbours = usual_neighbours(cluster)};
  cluster.cooling = cooling_of(cluster.gpu, *value, usual, reader);
  for (CardKind& other : cluster.other_cards) other.cooling = cooling_of(other.gpu, *value, usual, reader);
}

void read_power_limit(MapReader& reader, ClusterSpec& cluster) {
  cluster.power_limit = reader.optional_quantity<Watts>("power_limit");
  if (!cluster.power_limit) return;
  const Watts limit = *cluster.power_limit;
  // Of unlike cards a limit may be that of the hungrier ones alone.
  bool limits_any = false;
  for_each_card(cluster, [&](const Gpu& gpu) { limits_any = limits_any || limit <= gpu.power_limit; });
  for_each_card(cluster, [&](const Gpu& gpu) {
    if (gpu.id.empty() || (limits_any && limit > gpu.idle_power)) return;
    reader.reading().note(reader.place("power_limit"),
                          fmt::format("the card {} takes {} doing nothing and {} at most; write a limit between them",
                                      in_quotes(gpu.id), to_text(gpu.idle_power), to_text(gpu.power_limit)));
  });
}

void read_spread(MapReader& reader, ClusterSpec& cluster) {
  if (reader.find("spread") != nullptr) cluster.spread = reader.number("spread", 0.0, kMostSpread);
}

void read_background(MapReader& reader, ClusterSpec& cluster) {
  const YamlValue* value = reader.find("background");
  if (value == nullptr) return;
  constexpr double kMost = 0.95;
  MapReader map(*value, "background", reader.path("background"), reader.reading());
  for (const std::string_view kind : kLinkKinds) {
    const double share = map.number_or(kind, 0.0, 0.0, kMost);
    if (share > 0) cluster.background.push_back({std::string(kind), share});
  }
  map.finish();
}

}  // namespace

void read_surroundings(MapReader& reader, ClusterSpec& cluster) {
  read_cooling(reader, cluster);
  read_power_limit(reader, cluster);
  read_spread(reader, cluster);
  read_background(reader, cluster);
}

}  // namespace gpuscale
