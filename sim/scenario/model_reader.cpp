#include "scenario/model_reader.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <vector>

#include "scenario/data_file.hpp"
#include "scenario/layer_reader.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::array<std::string_view, 4> kFamilies = {"conv", "recurrent", "transformer", "dense"};
constexpr std::int64_t kMostUnits = 100'000'000;

Shape read_input(MapReader& model) {
  Shape shape = features(1);
  const YamlValue* value = model.require("input", "{image: [3, 224, 224]}");
  if (value == nullptr) return shape;
  Reading& reading = model.reading();
  MapReader input(*value, "model input", model.path("input"), reading);
  const YamlValue* sides = input.find("image");
  const YamlValue* length = input.find("tokens");
  const YamlValue* frames = input.find("frames");
  const YamlValue* width = input.find("features");
  input.finish();
  const int forms = (sides != nullptr) + (length != nullptr) + (frames != nullptr || width != nullptr);
  if (value->is_map() && forms != 1) {
    reading.note(value->place(),
                 "a model input is one of {image: [channels, height, width]}, {features: N}, {tokens: L} "
                 "or {frames: L, features: N}");
    return shape;
  }
  const auto units = [&](const YamlValue& number) { return read_whole(number, 1, kMostUnits, reading).value_or(1); };
  if (sides != nullptr) {
    if (!sides->is_list() || sides->items.size() != 3) {
      reading.note(sides->place(), "'image' must be [channels, height, width], such as [3, 224, 224]");
      return shape;
    }
    return image(units(sides->items[0]), units(sides->items[1]), units(sides->items[2]));
  }
  if (length != nullptr) return tokens(units(*length));
  if (frames != nullptr && width == nullptr) {
    reading.note(value->place(), "'frames' needs 'features', the numbers of one frame");
    return shape;
  }
  if (frames != nullptr) return sequence(units(*frames), units(*width));
  return width != nullptr ? features(units(*width)) : shape;
}

std::optional<PublishedModel> read_published(MapReader& model) {
  const YamlValue* value = model.find("published");
  if (value == nullptr) return std::nullopt;
  MapReader reader(*value, "published figures", model.path("published"), model.reading());
  PublishedModel published;
  published.parameters = reader.optional("parameters", QuantityKind::count).value_or(0.0);
  published.forward = reader.quantity_or<Flop>("forward", Flop(0));
  published.source = reader.text("source", "where the figures come from");
  reader.finish();
  return published;
}

std::vector<Block> read_blocks(MapReader& model) {
  std::vector<Block> blocks;
  const YamlValue* value = model.find("blocks");
  if (value == nullptr) return blocks;
  Reading& reading = model.reading();
  if (!value->is_map()) {
    reading.note(value->place(), fmt::format("'blocks' must be a map of names, not {}", words(value->kind)));
    return blocks;
  }
  for (const YamlEntry& entry : value->entries) {
    MapReader reader(entry.value, fmt::format("block {}", in_quotes(entry.key)), "-", reading);
    Block block;
    block.name = entry.key;
    const YamlValue* parameters = reader.require("parameters", "[width, out]");
    block.layers = reader.require("layers", "[...]");
    reader.finish();
    if (parameters != nullptr && !parameters->is_list()) {
      reading.note(parameters->place(), "'parameters' must be a list of names, such as [width, out]");
    } else if (parameters != nullptr) {
      for (const YamlValue& parameter : parameters->items) {
        if (!parameter.is_scalar() || parameter.text.empty() || parameter.text == "block") {
          reading.note(parameter.place(), "a parameter must be a name other than 'block'");
        } else if (std::ranges::find(block.parameters, parameter.text) != block.parameters.end()) {
          reading.note(parameter.place(), fmt::format("the parameter {} is named twice", in_quotes(parameter.text)));
        } else {
          block.parameters.push_back(parameter.text);
        }
      }
    }
    if (block.layers != nullptr) blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace

ModelSpec read_model(const YamlValue& value, const std::string& path, Reading& reading) {
  ModelSpec model;
  const std::optional<DataSource> data = find_data(value, kModelFiles, reading);
  if (!data) return model;
  MapReader reader(*data->map, "model", path, reading);
  DataHead head = read_head(reader, *data, Dated::no);
  model.id = data->id;
  model.name = std::move(head.name);
  model.source = std::move(head.source);
  model.family = kFamilies[reader.choice("family", kFamilies)];
  model.published = read_published(reader);
  model.input = read_input(reader);
  model.input_place = reader.place("input");
  LayerReader layers(read_blocks(reader), reading);
  if (const YamlValue* list = reader.require("layers", "[...]")) {
    model.layers_place = list->place();
    model.layers = layers.read_list(*list, nullptr);
    if (list->is_list() && list->items.empty()) reading.note(list->place(), "the model has no layers");
  }
  reader.finish();
  return model;
}

}  // namespace gpuscale
