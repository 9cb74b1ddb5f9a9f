#include "scenario/measured_reader.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpuscale {

namespace {

constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::int64_t kMostSplit = 1'000'000;

MeasuredTime read_point(const YamlValue& value, MapReader& layer) {
  MapReader reader(value, "measured", "-", layer.reading(), layer.bindings());
  MeasuredTime point;
  point.batch = reader.whole("batch", 1, kMostSamples);
  point.split = static_cast<int>(reader.whole_or("split", 1, 1, kMostSplit));
  point.forward = reader.quantity<Seconds>("forward", Zero::allowed);
  point.backward = reader.quantity_or<Seconds>("backward", Seconds(), Zero::allowed);
  point.update = reader.quantity_or<Seconds>("update", Seconds(), Zero::allowed);
  reader.finish();
  return point;
}

}  // namespace

std::vector<MeasuredTime> read_measured(MapReader& layer) {
  std::vector<MeasuredTime> points;
  const YamlValue* value = layer.find("measured");
  if (value == nullptr) return points;
  if (value->is_map()) return {read_point(*value, layer)};
  if (!value->is_list() || value->items.empty()) {
    layer.reading().note(value->place(),
                         "'measured' must be a point such as {forward: 4 ms, backward: 1 ms, update: 3.5 ms, "
                         "batch: 128}, or a list of points");
    return points;
  }
  for (const YamlValue& item : value->items) {
    const MeasuredTime point = read_point(item, layer);
    const bool again = std::ranges::any_of(
        points, [&](const MeasuredTime& other) { return other.batch == point.batch && other.split == point.split; });
    if (again) {
      layer.reading().note(item.place(), fmt::format("a second point for batch {} and split {}; leave one of them out",
                                                     point.batch, point.split));
    } else {
      points.push_back(point);
    }
  }
  return points;
}

}  // namespace gpuscale
