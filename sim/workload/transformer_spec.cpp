#include "workload/transformer_spec.hpp"

#include <algorithm>
#include <utility>

namespace gpuscale {

std::vector<LayerSpec> transformer_layers(const TransformerSpec& spec, const Place& place) {
  std::vector<LayerSpec> layers;
  const auto add = [&](LayerKind kind) { layers.push_back({.layer = std::move(kind), .name = {}, .place = place}); };
  const auto add_blocks = [&](std::int64_t times, const TransformerBlockLayer& block) {
    if (times < 1) return;
    RepeatLayer blocks{.times = times, .layers = {}};
    blocks.layers.push_back({.layer = block, .name = {}, .place = place});
    add(std::move(blocks));
  };

  add(EmbeddingLayer{.vocabulary = spec.vocabulary, .width = spec.hidden});
  if (spec.positions) add(PositionEmbeddingLayer{.positions = *spec.positions});
  if (spec.block.dropout) add(DropoutLayer{});
  const std::int64_t dense_layers = spec.block.experts ? std::min(spec.dense_layers, spec.layers) : 0;
  TransformerBlockLayer dense = spec.block;
  dense.experts.reset();
  add_blocks(dense_layers, dense);
  add_blocks(spec.layers - dense_layers, spec.block);
  add(NormLayer{spec.block.norm == BlockNorm::rms_norm ? NormKind::rms_norm : NormKind::layer_norm});
  add(LinearLayer{.out = spec.vocabulary, .bias = false, .tied = spec.tied});
  add(SoftmaxLossLayer{});
  return layers;
}

}  // namespace gpuscale
