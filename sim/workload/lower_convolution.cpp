// Convolution, pooling and flatten: layers over images.

#include <algorithm>
#include <fmt/format.h>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

/// A window sliding over one image.
struct Window {
  Extent kernel;
  Extent stride;
  Extent padding;
  bool same = false;
  bool ceil = false;
};

std::int64_t output_side(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                         const Window& window) {
  if (window.same) return (input + stride - 1) / stride;
  const std::int64_t room = input + 2 * padding - kernel;
  if (!window.ceil) return room / stride + 1;
  const std::int64_t side = (room + stride - 1) / stride + 1;
  // The last window must start inside the input or its left padding (as PyTorch and Caffe have it).
  return (side - 1) * stride >= input + padding ? side - 1 : side;
}

std::optional<Extent> output_extent(Lowering& lowering, const LayerSpec& spec, const Shape& in, const Window& window) {
  const std::int64_t height = in.height + 2 * window.padding.height;
  const std::int64_t width = in.width + 2 * window.padding.width;
  if (!window.same && (window.kernel.height > height || window.kernel.width > width)) {
    lowering.note(spec, fmt::format("kernel {}x{} is larger than its padded input of {}x{}", window.kernel.height,
                                    window.kernel.width, height, width));
    return std::nullopt;
  }
  return Extent{output_side(in.height, window.kernel.height, window.stride.height, window.padding.height, window),
                output_side(in.width, window.kernel.width, window.stride.width, window.padding.width, window)};
}

}  // namespace

bool is_image(Lowering& lowering, const LayerSpec& spec, ValueId in) {
  const Shape& shape = lowering.shape(in);
  if (shape.kind == ShapeKind::image) return true;
  lowering.note(spec, fmt::format("works on an image, but its input is {}", describe(shape)));
  return false;
}

void add_convolution(Lowering& lowering, Draft& draft, ValueId in, const ConvolutionKernel& forward, const Shape& to,
                     bool bias) {
  ConvolutionKernel first = forward;
  first.habit = lowering.options().convolution;
  ConvolutionKernel kernel = first;
  std::vector<Kernel> backward;
  if (lowering.needs_gradient(in)) {
    kernel.pass = forward.pass == Pass::forward ? Pass::backward_data : Pass::forward;
    backward.emplace_back(kernel);
  }
  kernel.pass = Pass::backward_weights;
  backward.emplace_back(kernel);
  const int backward_operators = static_cast<int>(backward.size());
  draft.step({first}, std::move(backward), 1, backward_operators);
  draft.matrix("weight",
               real(forward.out_channels) * real(forward.in_channels) / real(forward.groups) *
                   real(forward.kernel_height) * real(forward.kernel_width),
               forward.out_channels);
  if (bias) {
    draft.parameter("bias", real(to.channels));
    const Bytes output = lowering.bytes(number_count(to));
    if (!lowering.options().fused_elementwise) {
      draft.step({StreamKernel{.moved = 2.0 * output}}, {StreamKernel{.moved = output}}, 0, 0);
    }
  }
  draft.save(in);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ConvolutionLayer& layer, ValueId in) {
  if (!is_image(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  if (from.channels % layer.groups != 0) {
    lowering.note(spec, fmt::format("{} groups do not divide {} input channels", layer.groups, from.channels));
  }
  const std::optional<Extent> side = output_extent(lowering, spec, from,
                                                   {.kernel = layer.kernel,
                                                    .stride = layer.stride,
                                                    .padding = layer.same_padding ? Extent{0, 0} : layer.padding,
                                                    .same = layer.same_padding});
  if (!side) return std::nullopt;
  const Shape to = image(layer.out, side->height, side->width);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;

  Draft draft(lowering, spec, in);
  // A tensor group divides output channels; a narrow or grouped convolution stays whole on every rank.
  const std::int64_t ranks = lowering.options().tensor;
  const bool divided = ranks > 1 && layer.groups == 1 && to.channels % ranks == 0;
  const Shape part = divided ? image(to.channels / ranks, to.height, to.width) : to;
  const ConvolutionKernel forward{.batch = lowering.options().batch,
                                  .in_channels = from.channels,
                                  .height = from.height,
                                  .width = from.width,
                                  .out_channels = part.channels,
                                  .out_height = to.height,
                                  .out_width = to.width,
                                  .kernel_height = layer.kernel.height,
                                  .kernel_width = layer.kernel.width,
                                  .stride_height = layer.stride.height,
                                  .stride_width = layer.stride.width,
                                  .groups = layer.groups};
  add_convolution(lowering, draft, in, forward, part, layer.bias);
  if (divided) {
    for (ParameterTensor& tensor : draft.work.parameters) tensor.split = true;
    draft.exchange_forward({.what = LayerCollective::all_gather, .size = lowering.bytes(number_count(to))});
    const Bytes errors = lowering.needs_gradient(in) ? lowering.bytes(number_count(from)) : Bytes();
    draft.exchange_backward({.what = LayerCollective::reduce_scatter, .size = errors});
  }
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const PoolLayer& layer, ValueId in) {
  if (!is_image(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const std::optional<Extent> side = output_extent(lowering, spec, from,
                                                   {.kernel = layer.kernel,
                                                    .stride = layer.stride.value_or(layer.kernel),
                                                    .padding = layer.padding,
                                                    .ceil = layer.ceil});
  if (!side) return std::nullopt;
  const Shape to = image(from.channels, side->height, side->width);
  if (!lowering.is_reasonable(spec, to)) return std::nullopt;

  Draft draft(lowering, spec, in);
  const Bytes input = lowering.bytes(number_count(from));
  const Bytes output = lowering.bytes(number_count(to));
  Bytes indices;
  if (layer.kind == PoolKind::max) {
    indices = number_count(to) * lowering.batch() * Bytes(4);
    draft.save(in);
    draft.save(indices);
  }
  draft.stream(input + output + indices, input + output + indices);
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GlobalAveragePoolLayer&, ValueId in) {
  if (!is_image(lowering, spec, in)) return std::nullopt;
  const Shape from = lowering.shape(in);
  const Shape to = features(from.channels);
  Draft draft(lowering, spec, in);
  const Bytes both = lowering.bytes(number_count(from) + number_count(to));
  draft.stream(both, both);
  return draft.finish(to);
}

Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const FlattenLayer&, ValueId in) {
  const Shape from = lowering.shape(in);
  if (from.kind != ShapeKind::sequence && !is_image(lowering, spec, in)) return std::nullopt;
  Draft draft(lowering, spec, in);
  return draft.finish_view(features(from.channels * from.height * from.width * from.length));
}

}  // namespace gpuscale
