#include "scenario/layer_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "scenario/layer_fields.hpp"
#include "scenario/measured_reader.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

constexpr std::array<std::string_view, 8> kContainers = {"residual", "gate",   "interaction", "branches",
                                                         "heads",    "repeat", "use",         "encoder_decoder"};
constexpr int kDeepestLayers = 64;

bool is_container(std::string_view kind) { return std::ranges::find(kContainers, kind) != kContainers.end(); }

std::string unknown_layer(std::string_view kind, std::span<const std::string_view> blocks) {
  if (std::ranges::find(blocks, kind) != blocks.end()) {
    return fmt::format("{} is a block, not a layer; write 'use: {{block: {}, ...}}'", in_quotes(kind), kind);
  }
  std::vector<std::string_view> names(simple_layer_names().begin(), simple_layer_names().end());
  names.insert(names.end(), kContainers.begin(), kContainers.end());
  const std::string hint = did_you_mean(kind, names);
  return fmt::format("unknown layer {}{}", in_quotes(kind),
                     hint.empty() ? "; workloads/README.md lists the layers" : hint);
}

/// Counts a level of nesting while it lives.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;
};

}  // namespace

std::vector<std::string_view> LayerReader::block_names() const {
  std::vector<std::string_view> names;
  for (const Block& block : blocks_) names.push_back(block.name);
  return names;
}

std::vector<LayerSpec> LayerReader::read_list(const YamlValue& value, const Bindings* bindings) {
  std::vector<LayerSpec> layers;
  if (gave_up_) return layers;
  if (!value.is_list()) {
    reading_->note(value.place(),
                   fmt::format("layers must be a list, not {}; start each layer with '- '", words(value.kind)));
    return layers;
  }
  const Deeper level(depth_);
  if (depth_ > kDeepestLayers) {
    reading_->note(value.place(), fmt::format("layers inside layers, more than {} deep", kDeepestLayers));
    gave_up_ = true;
    return layers;
  }
  YamlValue no_fields;
  no_fields.kind = YamlKind::map;
  for (const YamlValue& item : value.items) {
    if (gave_up_) break;
    if (++layers_ > kMaximumLayers) {
      reading_->note(item.place(), fmt::format("the model has more than {} layers", kMaximumLayers));
      gave_up_ = true;
      break;
    }
    LayerSpec layer;
    layer.place = item.place();
    if (item.is_scalar()) {
      no_fields.file = item.file;
      no_fields.line = item.line;
      no_fields.column = item.column;
      if (read_layer(layer, item.text, no_fields, bindings)) layers.push_back(std::move(layer));
    } else if (item.is_map() && item.entries.size() == 1) {
      const YamlEntry& entry = item.entries.front();
      layer.place = entry.place();
      if (entry.value.is_null() && is_fieldless(entry.key)) {
        reading_->note(entry.place(),
                       fmt::format("{} has no fields; write '- {}' without a colon", in_quotes(entry.key), entry.key));
      } else if (read_layer(layer, entry.key, entry.value, bindings)) {
        layers.push_back(std::move(layer));
      }
    } else {
      reading_->note(item.place(),
                     "a layer is its kind alone, such as '- relu', or its kind with fields, such as "
                     "'- conv: {out: 64, kernel: 3}'; check the indentation below it");
    }
  }
  return layers;
}

std::vector<LayerSpec> LayerReader::read_list_of(MapReader& fields, std::string_view key, bool required) {
  const YamlValue* value = required ? fields.require(key, "[...]") : fields.find(key);
  return value == nullptr ? std::vector<LayerSpec>() : read_list(*value, fields.bindings());
}

bool LayerReader::read_layer(LayerSpec& layer, std::string_view kind, const YamlValue& value,
                             const Bindings* bindings) {
  if (kind == "branches" || kind == "heads") {
    const std::string_view one = kind == "branches" ? "branch" : "head";
    if (!value.is_list() || value.items.empty()) {
      reading_->note(value.place(),
                     fmt::format("'{}' must be a list of lists of layers; start each {} with '- - '", kind, one));
      return false;
    }
    std::vector<std::vector<LayerSpec>> lists;
    for (const YamlValue& list : value.items) lists.push_back(read_list(list, bindings));
    if (kind == "branches") {
      layer.layer = BranchesLayer{std::move(lists)};
    } else {
      layer.layer = HeadsLayer{std::move(lists)};
    }
    return true;
  }
  const bool is_simple = std::ranges::find(simple_layer_names(), kind) != simple_layer_names().end();
  if (!is_simple && !is_container(kind)) {
    reading_->note(layer.place, unknown_layer(kind, block_names()));
    return false;
  }
  MapReader fields(value, fmt::format("layer '{}'", kind), "-", *reading_, bindings);
  if (kind != "use") layer.name = fields.text_or("name", "");
  if (is_simple) layer.measured = read_measured(fields);
  if (kind == "residual") {
    std::vector<LayerSpec> body = read_list_of(fields, "body", true);
    layer.layer = ResidualLayer{std::move(body), read_list_of(fields, "shortcut", false)};
  } else if (kind == "gate") {
    layer.layer = GateLayer{read_list_of(fields, "body", true)};
  } else if (kind == "interaction") {
    layer.layer = InteractionLayer{read_list_of(fields, "dense", true)};
  } else if (kind == "repeat") {
    constexpr std::int64_t kMostTimes = 100'000;
    RepeatLayer result;
    result.times = fields.whole("times", 1, kMostTimes);
    result.layers = read_list_of(fields, "layers", true);
    layer.layer = std::move(result);
  } else if (kind == "encoder_decoder") {
    std::vector<LayerSpec> encoder = read_list_of(fields, "encoder", true);
    layer.layer = EncoderDecoderLayer{std::move(encoder), read_list_of(fields, "decoder", true)};
  } else if (kind == "use") {
    layer.layer = read_use(fields, layer);
  } else {
    layer.layer = *read_simple_layer(kind, fields);
  }
  fields.finish();
  return true;
}

LayerKind LayerReader::read_use(MapReader& fields, LayerSpec& layer) {
  GroupLayer group;
  const std::string name = fields.text("block", "bottleneck");
  const auto block = std::ranges::find(blocks_, name, &Block::name);
  Bindings bindings;
  if (block == blocks_.end()) {
    for (const YamlEntry& entry : fields.map().entries) fields.find(entry.key);  // parameters of nobody
    if (!name.empty()) {
      reading_->note(fields.place("block"),
                     fmt::format("no block {} in this model{}", in_quotes(name), did_you_mean(name, block_names())));
    }
    return group;
  }
  for (const std::string_view parameter : block->parameters) {
    if (const YamlValue* value = fields.require(parameter, "...")) bindings.emplace_back(parameter, value);
  }
  if (bindings.size() < block->parameters.size()) return group;
  if (std::ranges::find(open_blocks_, block->name) != open_blocks_.end()) {
    reading_->note(fields.place("block"), fmt::format("the block {} uses itself", in_quotes(name)));
    return group;
  }
  layer.name = name;
  open_blocks_.push_back(block->name);
  group.layers = read_list(*block->layers, &bindings);
  open_blocks_.pop_back();
  return group;
}

}  // namespace gpuscale
