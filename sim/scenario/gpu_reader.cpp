#include "scenario/gpu_reader.hpp"

#include <array>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "scenario/data_file.hpp"
#include "scenario/family_reader.hpp"
#include "scenario/link_reader.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

RateTable read_rates(MapReader& gpu, std::string_view key, bool required) {
  RateTable table{};
  const YamlValue* value = required ? gpu.require(key, "{fp32: 11.34 TFLOP/s}") : gpu.find(key);
  if (value == nullptr) return table;
  MapReader rates(*value, fmt::format("{} rates", key), gpu.path(key), gpu.reading());
  for (std::size_t i = 0; i < kPrecisionNames.size(); ++i) {
    table[i] = rates.optional_quantity<FlopPerSecond>(kPrecisionNames[i]);
  }
  // Data sheets give it; no precision of a job uses it yet.
  static_cast<void>(rates.optional_quantity<FlopPerSecond>("int8"));
  rates.finish();
  const bool lacks_fp32 = required && value->is_map() && value->find("fp32") == nullptr;
  if (lacks_fp32) gpu.reading().note(value->place(), "peak rates have no 'fp32', which every card here computes in");
  return table;
}

/// What error-correcting codes leave of memory that has no room of its own for them.
constexpr double kBesideCodes = 15.0 / 16.0;

void read_memory(MapReader& gpu, Gpu& result) {
  const YamlValue* value = gpu.require("memory", "{size: 11 GiB, bandwidth: 484 GB/s, l2: 2816 KiB}");
  if (value == nullptr) return;
  MapReader memory(*value, "GPU memory", gpu.path("memory"), gpu.reading());
  result.memory_size = memory.quantity<Bytes>("size") * (memory.boolean_or("ecc", false) ? kBesideCodes : 1.0);
  result.fast_memory_size = memory.optional_quantity<Bytes>("fast_size");
  result.slow_memory_bandwidth = memory.optional_quantity<BytesPerSecond>("slow_bandwidth");
  result.memory_bandwidth = memory.quantity<BytesPerSecond>("bandwidth");
  result.l2_size = memory.quantity<Bytes>("l2");
  memory.finish();
  if (result.fast_memory_size && *result.fast_memory_size > result.memory_size) {
    gpu.reading().note(memory.place("fast_size"),
                       "'fast_size' is more than the 'size' of the memory leaves to programs");
  }
  if (result.fast_memory_size.has_value() != result.slow_memory_bandwidth.has_value()) {
    const char* written = result.fast_memory_size ? "fast_size" : "slow_bandwidth";
    gpu.reading().note(memory.place(written), "'fast_size' and 'slow_bandwidth' of a memory go together; write both");
  }
}

void read_clock(MapReader& gpu, Gpu& result) {
  const YamlValue* value = gpu.require("clock", "{base: 1480 MHz, boost: 1582 MHz}");
  if (value == nullptr) return;
  MapReader clock(*value, "GPU clock", gpu.path("clock"), gpu.reading());
  result.base_clock = clock.quantity<Hertz>("base");
  result.boost_clock = clock.quantity<Hertz>("boost");
  clock.finish();
  const bool both_written = value->is_map() && value->find("base") != nullptr && value->find("boost") != nullptr;
  if (both_written && result.boost_clock < result.base_clock) {
    gpu.reading().note(clock.place("boost"), "the boost clock is below the base clock");
  }
}

void read_power(MapReader& gpu, Gpu& result) {
  const YamlValue* value = gpu.require("power", "{limit: 250 W, idle: 9 W}");
  if (value == nullptr) return;
  MapReader power(*value, "GPU power", gpu.path("power"), gpu.reading());
  result.power_limit = power.quantity<Watts>("limit");
  result.idle_power = power.quantity<Watts>("idle", Zero::allowed);
  power.finish();
}

std::optional<LinkChoice> read_nvlink(MapReader& gpu) {
  const YamlValue* value = gpu.find("nvlink");
  if (value == nullptr) return std::nullopt;
  MapReader nvlink(*value, "GPU nvlink", gpu.path("nvlink"), gpu.reading());
  LinkChoice choice;
  choice.type = nvlink.text("type", "nvlink-2");
  constexpr std::int64_t kMostLinks = 1000;
  choice.lanes = static_cast<int>(nvlink.whole("links", 1, kMostLinks));
  nvlink.finish();
  return choice;
}

}  // namespace

Gpu read_gpu(const YamlValue& value, const std::string& path, Reading& reading) {
  Gpu gpu;
  const std::optional<DataSource> data = find_data(value, kGpuFiles, reading);
  if (!data) return gpu;
  MapReader reader(*data->map, "GPU", path, reading);
  DataHead head = read_head(reader, *data);
  gpu.id = data->id;
  gpu.name = std::move(head.name);
  gpu.source = std::move(head.source);
  if (const YamlValue* family = reader.require("family", "pascal")) gpu.family = read_family(*family, reading);
  gpu.launched = reader.text_or("launched", "");
  if (!gpu.launched.empty() && !is_iso_date(gpu.launched)) {
    reading.note(reader.place("launched"),
                 fmt::format("{} is not a date; write year-month-day, such as 2017-03-10", in_quotes(gpu.launched)));
  }
  gpu.price = reader.optional_quantity<Dollars>("price");
  gpu.peak = read_rates(reader, "peak", true);
  gpu.matrix = read_rates(reader, "matrix", false);
  read_memory(reader, gpu);
  constexpr std::int64_t kMostMultiprocessors = 100'000;
  gpu.multiprocessors = static_cast<int>(reader.whole("multiprocessors", 1, kMostMultiprocessors));
  read_clock(reader, gpu);
  if (const YamlValue* bus = reader.require("host_bus", "pcie-3 x16")) {
    gpu.host_bus = read_link_choice(*bus, reading).value_or(LinkChoice{});
  }
  gpu.nvlink = read_nvlink(reader);
  gpu.peer_to_peer = reader.boolean_or("peer_to_peer", true);
  gpu.copy_engines = static_cast<int>(reader.whole_or("copy_engines", 1, 1, 100));
  constexpr double kLeastOwnHost = 0.01;
  constexpr double kMostOwnHost = 10.0;
  if (reader.find("own_host") != nullptr) gpu.own_host = reader.number("own_host", kLeastOwnHost, kMostOwnHost);
  read_power(reader, gpu);
  if (reader.find("cooler") != nullptr) gpu.cooler = static_cast<Cooler>(reader.choice("cooler", kCoolerNames));
  reader.finish();
  return gpu;
}

}  // namespace gpuscale
