#include <algorithm>
#include <cmath>
#include <limits>

#include "hardware/kernel_time.hpp"
#include "hardware/product.hpp"

namespace gpuscale {

namespace {

/// Sizes of a convolution as real numbers, per group.
struct Shape {
  double in;  // channels
  double out;
  double window;  // kernel height x width
  double input_pixels;
  double output_pixels;  // of the whole batch
  double groups;
  double stride;  // height x width
};

double real(std::int64_t count) { return static_cast<double>(count); }

Shape shape_of(const ConvolutionKernel& k) {
  return {.in = real(k.in_channels) / real(k.groups),
          .out = real(k.out_channels) / real(k.groups),
          .window = real(k.kernel_height) * real(k.kernel_width),
          .input_pixels = real(k.batch) * real(k.height) * real(k.width),
          .output_pixels = real(k.batch) * real(k.out_height) * real(k.out_width),
          .groups = real(k.groups),
          .stride = real(k.stride_height) * real(k.stride_width)};
}

double factor_of(const PassEfficiency& efficiency, Pass pass) {
  switch (pass) {
    case Pass::forward:
      return efficiency.forward;
    case Pass::backward_data:
      return efficiency.backward_data;
    case Pass::backward_weights:
      return efficiency.backward_weights;
  }
  return 1.0;
}

/// Matrix units take channels in packs; narrower inputs are padded. The first layer of a colour image has kernels
/// of its own, which pad three channels to four (cuDNN developer guide, tensor core convolutions).
constexpr double kPack = 8.0;
constexpr double kImagePack = 4.0;

double packed(double channels, bool matrix) {
  if (!matrix) return channels;
  const bool is_image = channels > kImagePack - 2.0 && channels <= kImagePack;
  return is_image ? kImagePack : std::ceil(channels / kPack) * kPack;
}

/// Windows of neighbouring pixels overlap: what one of them loaded, the caches have for the others.
double fetched_share(const Shape& shape) { return std::sqrt(std::min(1.0, shape.stride / shape.window)); }

Product implicit_product(const Shape& shape, Pass pass, bool matrix) {
  const double in = packed(shape.in, matrix);
  const double out = packed(shape.out, matrix);
  const double fetched = fetched_share(shape);
  switch (pass) {
    case Pass::forward:
      return {shape.output_pixels, out, in * shape.window, shape.groups, fetched};
    case Pass::backward_data:
      return {shape.output_pixels, in, out * shape.window, shape.groups, fetched};
    case Pass::backward_weights:
      return {in * shape.window, out, shape.output_pixels, shape.groups, fetched};
  }
  return {};
}

const ImplicitEfficiency& implicit_efficiency(const Gpu& gpu, bool matrix) {
  return matrix ? gpu.family.convolution.matrix : gpu.family.convolution.vector;
}

/// Vector units have kernels that add up the errors of the inputs pixel by pixel where a stride leaves pixels out,
/// and the parts of the gradient of the weights. What they add into is zeroed by a kernel before them.
Seconds zeroing_time(const Gpu& gpu, Bytes zeroed) {
  return traffic_time(gpu, zeroed, gpu.family.convolution.memory) + gpu.family.launch;
}

/// Further rate of matrix units whose packs of channels are not full.
double narrow_factor(const Gpu& gpu, const Shape& shape, const ProductUnits& units) {
  return units.matrix && shape.in < kPack ? gpu.family.convolution.narrow_input : 1.0;
}

/// The gradient of the weights has few tiles and a long depth, the pixels of the whole batch, over which it is
/// split: always into the same parts on vector units, as far as it pays on matrix units.
Seconds weights_time(const Gpu& gpu, const Shape& shape, const ProductUnits& units) {
  const ImplicitEfficiency& efficiency = implicit_efficiency(gpu, units.matrix);
  ProductUnits split = units;
  split.deepest_split = std::max(1.0, std::floor(efficiency.weights_split));
  split.always_split = !units.matrix;
  const Product product = implicit_product(shape, Pass::backward_weights, units.matrix);
  const Bytes gradient = product.m * product.n * product.batch * storage_size(Precision::fp32);
  const double factor = efficiency.rate.backward_weights * narrow_factor(gpu, shape, units);
  return product_time(gpu, split, product, factor) + zeroing_time(gpu, gradient);
}

Seconds implicit_time(const Gpu& gpu, const ConvolutionKernel& kernel, const Shape& shape, const ProductUnits& units) {
  if (kernel.pass == Pass::backward_weights) return weights_time(gpu, shape, units);
  const ConvolutionEfficiency& efficiency = gpu.family.convolution;
  double factor =
      factor_of(implicit_efficiency(gpu, units.matrix).rate, kernel.pass) * narrow_factor(gpu, shape, units);
  Seconds zeroing;
  if (kernel.pass == Pass::backward_data && shape.stride > 1.0) {
    factor *= efficiency.strided_data;
    if (units.narrow && shape.window < shape.stride) factor *= efficiency.vector_16bit.strided_data;
    const Bytes errors = shape.input_pixels * shape.in * shape.groups * units.operand_size;
    if (!units.matrix) zeroing = zeroing_time(gpu, errors);
  }
  return product_time(gpu, units, implicit_product(shape, kernel.pass, units.matrix), factor) + zeroing;
}

/// Each thread walks its own window, without reuse between channels: depthwise layers, single channels.
Seconds direct_time(const Gpu& gpu, const ConvolutionKernel& kernel) {
  return flop(kernel) / (peak_matrix_rate(gpu, Precision::fp32) * gpu.family.convolution.direct);
}

/// F(m x m, r x r): an output tile of m pixels a side costs (m + r - 1)^2 products per pair of channels.
struct Winograd {
  double output;
  double points;
};

double winograd_tiles(const ConvolutionKernel& kernel, const Winograd& transform) {
  return real(kernel.batch) * std::ceil(real(kernel.out_height) / transform.output) *
         std::ceil(real(kernel.out_width) / transform.output);
}

/// All in one kernel: a block transforms 32 tiles, multiplies them for 64 channels and transforms back.
Seconds fused_winograd_time(const Gpu& gpu, const ConvolutionKernel& kernel, const Shape& shape,
                            const ProductUnits& units, const Winograd& transform) {
  constexpr double kTiles = 32.0;
  constexpr double kChannels = 64.0;
  const bool forward = kernel.pass == Pass::forward;
  const double blocks =
      std::ceil(winograd_tiles(kernel, transform) / kTiles) * std::ceil((forward ? shape.out : shape.in) / kChannels);
  const double depth = (forward ? shape.in : shape.out) + units.depth_half;
  const Flop block(2.0 * transform.points * kTiles * kChannels * depth);
  const double operands = transform.points * (kTiles * fetched_share(shape) + kChannels) * depth;
  return block_time(gpu, units, blocks, block, operands, factor_of(gpu.family.convolution.winograd, kernel.pass));
}

/// Transforms as kernels of their own around a batched product: transformed tensors are written and read.
Seconds unfused_winograd_time(const Gpu& gpu, const ConvolutionKernel& kernel, const Shape& shape,
                              const ProductUnits& units, const Winograd& transform) {
  const double tiles = winograd_tiles(kernel, transform);
  Product product{tiles, shape.out, shape.in, transform.points};
  if (kernel.pass == Pass::backward_data) product = {tiles, shape.in, shape.out, transform.points};
  if (kernel.pass == Pass::backward_weights) product = {shape.in, shape.out, tiles, transform.points};
  const double elements = transform.points * (tiles * (shape.in + shape.out) + shape.in * shape.out);
  const Bytes transformed = elements * storage_size(Precision::fp32);
  if (transformed > kernel.habit.workspace) return Seconds(std::numeric_limits<double>::infinity());
  const Bytes moved = 2.0 * transformed;
  return product_time(gpu, units, product, factor_of(gpu.family.convolution.winograd, kernel.pass)) +
         traffic_time(gpu, moved, gpu.family.convolution.memory);
}

/// The fastest Winograd transform that applies, if it beats `direct`.
Seconds with_winograd(const Gpu& gpu, const ConvolutionKernel& kernel, const Shape& shape, const ProductUnits& units,
                      Seconds direct) {
  constexpr Winograd kSmall3x3{.output = 2.0, .points = 16.0};
  constexpr Winograd kLarge3x3{.output = 4.0, .points = 36.0};
  constexpr Winograd k5x5{.output = 5.0, .points = 81.0};  // winograd_nonfused 9x9_5x5, as profiles name it
  const bool square = kernel.kernel_height == kernel.kernel_width;
  const bool offered = factor_of(gpu.family.convolution.winograd, kernel.pass) > 0.0;
  if (!offered || !square || units.matrix || shape.groups > 1.0 || shape.stride > 1.0) return direct;
  if (kernel.kernel_height == 5) return std::min(direct, unfused_winograd_time(gpu, kernel, shape, units, k5x5));
  if (kernel.kernel_height != 3) return direct;
  const Seconds unfused = std::min(direct, unfused_winograd_time(gpu, kernel, shape, units, kLarge3x3));
  if (kernel.pass == Pass::backward_weights) return unfused;
  return std::min(unfused, fused_winograd_time(gpu, kernel, shape, units, kSmall3x3));
}

/// How much faster 16-bit numbers can be than fp32 where vector units have a rate of their own for them; 1: not.
double narrow_peak(const Gpu& gpu, Precision precision) {
  const auto half = rate_at(gpu.peak, Precision::fp16);
  const bool narrow = storage_size(precision) == Bytes(2) && !on_matrix_units(gpu, precision);
  return narrow && half ? std::max(1.0, *half / peak_matrix_rate(gpu, Precision::fp32)) : 1.0;
}

/// The units as the kernels of the convolution library drive them; it has narrow tiles throughout.
ProductUnits convolution_units(const Gpu& gpu, Precision precision) {
  constexpr double kNarrowestTile = 32.0;
  ProductUnits units = product_units(gpu, precision);
  const ImplicitEfficiency& implicit = implicit_efficiency(gpu, units.matrix);
  units.depth_half = implicit.depth_half;
  units.operand_rate = operand_rate(gpu, implicit.operand_rate);
  units.narrowest_tile = kNarrowestTile;
  const double peak = narrow_peak(gpu, precision);
  if (peak > 1.0) {
    units.narrow = true;
    units.operand_size = storage_size(precision);
    units.rate = units.rate * std::min(peak, gpu.family.convolution.vector_16bit.rate);
  }
  return units;
}

Seconds arithmetic_time(const Gpu& gpu, const ConvolutionKernel& kernel, Precision precision) {
  const ProductUnits units = convolution_units(gpu, precision);
  const Shape shape = shape_of(kernel);
  const Seconds implicit = implicit_time(gpu, kernel, shape, units);
  if ((units.matrix || units.narrow) && kernel.groups == 1) return with_winograd(gpu, kernel, shape, units, implicit);
  return with_winograd(gpu, kernel, shape, units, std::min(implicit, direct_time(gpu, kernel)));
}

/// Turning the tensors that a kernel reads and writes, each a pass over it: the input and the output, whichever
/// the pass makes of them.
Seconds layout_time(const Gpu& gpu, const ConvolutionKernel& kernel, const Shape& shape, Precision precision) {
  const bool on_units = storage_size(precision) == Bytes(2) && on_matrix_units(gpu, precision);
  const bool by_pixel = kernel.kernel_height * kernel.kernel_width * kernel.stride_height * kernel.stride_width == 1;
  const bool turned = on_units ? kernel.habit.channels_first : kernel.habit.channels_last && !by_pixel;
  if (!turned || kernel.groups != 1) return Seconds();
  const double numbers = shape.input_pixels * shape.in + shape.output_pixels * shape.out;
  return stream_time(gpu, {.moved = 2.0 * numbers * storage_size(precision), .kernels = 2});
}

}  // namespace

Seconds convolution_time(const Gpu& gpu, const ConvolutionKernel& kernel, Precision precision) {
  Seconds arithmetic = arithmetic_time(gpu, kernel, precision);
  // tf32 only permits the matrix units: the library may find an fp32 kernel faster.
  const bool choice = precision == Precision::tf32 && on_matrix_units(gpu, precision);
  if (choice) arithmetic = std::min(arithmetic, arithmetic_time(gpu, kernel, Precision::fp32));
  const Seconds memory = traffic_time(gpu, least_traffic(kernel, precision), gpu.family.convolution.memory);
  return std::max(arithmetic, memory) + gpu.family.launch + layout_time(gpu, kernel, shape_of(kernel), precision);
}

}  // namespace gpuscale
