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
#include "scenario/shape_reader.hpp"
#include "scenario/transformer_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::array<std::string_view, 4> kFamilies = {"conv", "recurrent", "transformer", "dense"};

Shape read_input(MapReader& model) {
  const YamlValue* value = model.require("input", "{image: [3, 224, 224]}");
  if (value == nullptr) return features(1);
  MapReader input(*value, "model input", model.path("input"), model.reading());
  const Shape shape = read_shape(input, "a model input");
  input.finish();
  return shape;
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

/// A list of layers, or the sizes of a Transformer; a model has one of the two.
void read_layers(MapReader& reader, ModelSpec& model) {
  Reading& reading = reader.reading();
  LayerReader layers(read_blocks(reader), reading);
  const YamlValue* sizes = reader.find("transformer");
  const YamlValue* list = sizes == nullptr ? reader.require("layers", "[...]") : reader.find("layers");
  if (sizes != nullptr) {
    if (list != nullptr) {
      reading.note(list->place(), "a model has 'layers' or 'transformer', which makes them, not both");
      return;
    }
    MapReader fields(*sizes, "transformer", "-", reading);
    const TransformerSpec spec = read_transformer(fields);
    fields.finish();
    model.layers_place = sizes->place();
    model.layers = transformer_layers(spec, model.layers_place);
  } else if (list != nullptr) {
    model.layers_place = list->place();
    model.layers = layers.read_list(*list, nullptr);
    if (list->is_list() && list->items.empty()) reading.note(list->place(), "the model has no layers");
  }
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
  read_layers(reader, model);
  reader.finish();
  return model;
}

}  // namespace gpuscale
