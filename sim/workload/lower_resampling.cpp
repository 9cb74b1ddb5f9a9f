// Layers over images that change their size and are no convolution or pooling.

#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

std::int64_t mirrored_side(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return (input - 1) * stride + kernel - 2 * padding;
}

}  // namespace

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const TransposedConvolutionLayer& layer, ValueId in) {
  if (!is_image(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const Shape to =
      image(layer.out, mirrored_side(from.height, layer.kernel.height, layer.stride.height, layer.padding.height),
            mirrored_side(from.width, layer.kernel.width, layer.stride.width, layer.padding.width));
  if (to.height < 1 || to.width < 1) {
    lowering.note(spec, fmt::format("'padding' leaves nothing of its output: {}x{}", to.height, to.width));
    return std::nullopt;
  }
  if (to.height > kLargestSize || to.width > kLargestSize) {
    lowering.note(spec, fmt::format("makes {}, a side of more than 2^30; check the sizes", describe(to)));
    return std::nullopt;
  }
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;

  // Forward it is the backward-data pass of the convolution that goes the other way, and the reverse.
  Draft draft(lowering, spec, in);
  const ConvolutionKernel forward{.pass = Pass::backward_data,
                                  .batch = lowering.options().batch,
                                  .in_channels = to.channels,
                                  .height = to.height,
                                  .width = to.width,
                                  .out_channels = from.channels,
                                  .out_height = from.height,
                                  .out_width = from.width,
                                  .kernel_height = layer.kernel.height,
                                  .kernel_width = layer.kernel.width,
                                  .stride_height = layer.stride.height,
                                  .stride_width = layer.stride.width};
  add_convolution(lowering, draft, in, forward, to, layer.bias);
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const SpaceToDepthLayer& layer, ValueId in) {
  if (!is_image(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const auto [height, width] = layer.block;
  if (from.height % height != 0 || from.width % width != 0) {
    lowering.note(spec, fmt::format("blocks of {}x{} do not divide {}", height, width, describe(from)));
    return std::nullopt;
  }
  const Shape to = image(from.channels * height * width, from.height / height, from.width / width);
  Draft draft(lowering, spec, in);
  const Bytes moved = 2.0 * lowering.bytes(number_count(to));
  draft.stream(moved, moved);
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const FirstChannelsLayer& layer, ValueId in) {
  if (!is_image(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  if (layer.out > from.channels) {
    lowering.note(spec, fmt::format("keeps {} channels, but its input has {}", layer.out, from.channels));
    return std::nullopt;
  }
  const Shape to = image(layer.out, from.height, from.width);
  Draft draft(lowering, spec, in);
  const Bytes kept = lowering.bytes(number_count(to));
  draft.stream(2.0 * kept, kept + lowering.bytes(number_count(from)));
  return draft.finish(to);
}

}  // namespace gpuscale
