#pragma once

/// \file
/// Layers of a model file: the table of layer kinds in workloads/README.md.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scenario/map_reader.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "workload/model_spec.hpp"

namespace gpuscale {

/// A named piece of a model: layers with `$parameters`.
struct Block {
  std::string_view name;
  std::vector<std::string_view> parameters;
  const YamlValue* layers = nullptr;
};

/// Reads lists of layers, blocks written out. Problems are noted.
class LayerReader {
 public:
  LayerReader(std::vector<Block> blocks, Reading& reading) : blocks_(std::move(blocks)), reading_(&reading) {}

  std::vector<LayerSpec> read_list(const YamlValue& value, const Bindings* bindings);

 private:
  bool read_layer(LayerSpec& layer, std::string_view kind, const YamlValue& fields, const Bindings* bindings);
  LayerKind read_use(MapReader& fields, LayerSpec& layer);
  std::vector<LayerSpec> read_list_of(MapReader& fields, std::string_view key, bool required);
  [[nodiscard]] std::vector<std::string_view> block_names() const;

  std::vector<Block> blocks_;
  Reading* reading_;
  std::vector<std::string_view> open_blocks_;  ///< those being written out, outermost first
  int depth_ = 0;
  std::int64_t layers_ = 0;
  bool gave_up_ = false;
};

}  // namespace gpuscale
