#pragma once

#include <optional>
#include <string_view>

#include "scenario/map_reader.hpp"
#include "workload/model_spec.hpp"

namespace gpuscale {

/// Reads the fields of a layer that holds no other layers: "conv", "lstm", "transformer_block"... Nothing
/// if no such layer exists.
std::optional<LayerKind> read_simple_layer(std::string_view kind, MapReader& fields);

/// The names read_simple_layer knows.
std::span<const std::string_view> simple_layer_names();

/// Whether a layer kind may be written without fields, as `- relu`.
bool is_fieldless(std::string_view kind);

}  // namespace gpuscale
