#pragma once

/// \file
/// A whole Transformer by its sizes, for models that are nothing but a chain of equal blocks.

#include <cstdint>
#include <optional>
#include <vector>

#include "workload/model_spec.hpp"

namespace gpuscale {

struct TransformerSpec {
  std::int64_t layers = 1;  ///< blocks
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::optional<std::int64_t> positions = {};  ///< learned ones; absent: the block's are rotary, or none
  bool tied = false;                           ///< the output's weight is the embedding's table
  std::int64_t dense_layers = 0;               ///< first blocks without the block's experts
  TransformerBlockLayer block = {};

  bool operator==(const TransformerSpec&) const = default;
};

/// Embedding, positions, blocks, last norm, output and loss, all written at `place`.
std::vector<LayerSpec> transformer_layers(const TransformerSpec& spec, const Place& place);

}  // namespace gpuscale
