#include "scenario/shape_reader.hpp"

#include <fmt/format.h>

namespace gpuscale {

namespace {

constexpr std::int64_t kMostUnits = 100'000'000;

}  // namespace

Shape read_shape(MapReader& map, std::string_view what) {
  Reading& reading = map.reading();
  const YamlValue* sides = map.find("image");
  const YamlValue* length = map.find("tokens");
  const YamlValue* frames = map.find("frames");
  const YamlValue* width = map.find("features");
  const int forms = (sides != nullptr) + (length != nullptr) + (frames != nullptr || width != nullptr);
  if (map.map().is_map() && forms != 1) {
    reading.note(map.place(), fmt::format("{} is one of {{image: [channels, height, width]}}, {{features: N}}, "
                                          "{{tokens: L}} or {{frames: L, features: N}}",
                                          what));
    return features(1);
  }
  const auto units = [&](const YamlValue& written) {
    const YamlValue* number = substituted(written, map.bindings(), reading);
    return number == nullptr ? 1 : read_whole(*number, 1, kMostUnits, reading).value_or(1);
  };
  if (sides != nullptr) {
    if (!sides->is_list() || sides->items.size() != 3) {
      reading.note(sides->place(), "'image' must be [channels, height, width], such as [3, 224, 224]");
      return features(1);
    }
    return image(units(sides->items[0]), units(sides->items[1]), units(sides->items[2]));
  }
  if (length != nullptr) return tokens(units(*length));
  if (frames != nullptr && width == nullptr) {
    reading.note(map.place(), "'frames' needs 'features', the numbers of one frame");
    return features(1);
  }
  if (frames != nullptr) return sequence(units(*frames), units(*width));
  return features(width != nullptr ? units(*width) : 1);
}

}  // namespace gpuscale
