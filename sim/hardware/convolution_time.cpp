#include <algorithm>
#include <cmath>
#include <limits>

#include "hardware/convolution_algorithm.hpp"
#include "hardware/convolution_shape.hpp"
#include "hardware/convolution_transforms.hpp"
#include "hardware/kernel_time.hpp"
#include "hardware/product.hpp"

namespace gpuscale {

namespace {

/// Matrix units take channels in packs; narrower inputs are padded. The first layer of a colour image has kernels
/// of its own, which pad three channels to four (cuDNN developer guide, tensor core convolutions).
constexpr double kPack = 8.0;
constexpr double kImagePack = 4.0;

double packed(double channels, bool matrix) {
  if (!matrix) return channels;
  const bool is_image = channels > kImagePack - 2.0 && channels <= kImagePack;
  return is_image ? kImagePack : std::ceil(channels / kPack) * kPack;
}

Product implicit_product(const ConvolutionShape& shape, Pass pass, bool matrix) {
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
double narrow_factor(const Gpu& gpu, const ConvolutionShape& shape, const ProductUnits& units) {
  return units.matrix && shape.in < kPack ? gpu.family.convolution.narrow_input : 1.0;
}

/// The gradient of the weights has few tiles and a long depth, the pixels of the whole batch, over which it is
/// split: always into the same parts on vector units, as far as it pays on matrix units.
Seconds weights_time(const Gpu& gpu, const ConvolutionShape& shape, const ProductUnits& units) {
  const ImplicitEfficiency& efficiency = implicit_efficiency(gpu, units.matrix);
  ProductUnits split = units;
  split.deepest_split = std::max(1.0, std::floor(efficiency.weights_split));
  split.always_split = !units.matrix;
  const Product product = implicit_product(shape, Pass::backward_weights, units.matrix);
  const Bytes gradient = product.m * product.n * product.batch * storage_size(Precision::fp32);
  const double factor = efficiency.rate.backward_weights * narrow_factor(gpu, shape, units);
  return product_time(gpu, split, product, factor) + zeroing_time(gpu, gradient);
}

Seconds implicit_time(const Gpu& gpu, const ConvolutionKernel& kernel, const ConvolutionShape& shape,
                      const ProductUnits& units) {
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

/// The tensors that a kernel reads and writes, the input and the output whichever the pass makes of them, in the order
/// that it wants; nothing where they lie so. 16-bit kernels of matrix units want channels last, others channels first,
/// and products of single pixels take either.
Bytes turned_tensors(const Gpu& gpu, const ConvolutionKernel& kernel, const ConvolutionShape& shape,
                     Precision precision) {
  const bool on_units = storage_size(precision) == Bytes(2) && on_matrix_units(gpu, precision);
  const bool by_pixel = kernel.kernel_height * kernel.kernel_width * kernel.stride_height * kernel.stride_width == 1;
  const bool turned = on_units ? kernel.habit.channels_first : kernel.habit.channels_last && !by_pixel;
  if (!turned || kernel.groups != 1) return Bytes();
  return (shape.input_pixels * shape.in + shape.output_pixels * shape.out) * storage_size(precision);
}

/// Each tensor is turned in a pass over it.
Seconds turning_time(const Gpu& gpu, Bytes turned) {
  return turned > Bytes() ? stream_time(gpu, {.moved = 2.0 * turned, .kernels = 2}) : Seconds();
}

/// Keeps the best of the ways offered.
class Chooser {
 public:
  /// \param memory in which every way reads and writes its tensors
  /// \param limit of workspace
  Chooser(Seconds memory, Bytes limit) : memory_(memory), limit_(limit) {}

  /// \param turning time of what comes before and after the kernel, with its workspace
  void offer(const ConvolutionWay& way, Seconds turning, Bytes turned) {
    const Bytes workspace = way.workspace + turned;
    const Seconds time = std::max(way.arithmetic, memory_) + turning;
    if (workspace <= limit_ && time < best_.time) best_ = {way.algorithm, time, workspace};
  }

  [[nodiscard]] const ConvolutionChoice& best() const { return best_; }
  /// A way that takes longer than this will not be chosen.
  [[nodiscard]] Seconds to_beat() const { return best_.time; }

 private:
  Seconds memory_;
  Bytes limit_;
  ConvolutionChoice best_{.time = Seconds(std::numeric_limits<double>::infinity())};
};

/// Offers what the library has for this precision, from the least workspace to the most.
void offer_all(const Gpu& gpu, const ConvolutionKernel& kernel, const ConvolutionShape& shape, Precision precision,
               Chooser& chooser) {
  const ProductUnits units = convolution_units(gpu, precision);
  const Bytes turned = turned_tensors(gpu, kernel, shape, precision);
  const Seconds turning = turning_time(gpu, turned);
  chooser.offer({.arithmetic = implicit_time(gpu, kernel, shape, units)}, turning, turned);
  if ((!units.matrix && !units.narrow) || kernel.groups > 1) {
    chooser.offer({.algorithm = ConvolutionAlgorithm::direct, .arithmetic = direct_time(gpu, kernel)}, turning, turned);
  }
  if (units.matrix || shape.groups > 1.0 || shape.stride > 1.0) return;
  if (const auto way = fused_winograd(gpu, kernel, shape, units)) chooser.offer(*way, turning, turned);
  if (const auto way = unfused_winograd(gpu, kernel, shape, units, chooser.to_beat()))
    chooser.offer(*way, turning, turned);
  if (units.narrow) return;
  for (const FourierTile& tile : kFourierTiles) {
    if (const auto way = fourier(gpu, kernel, shape, units, tile, chooser.to_beat()))
      chooser.offer(*way, turning, turned);
  }
}

}  // namespace

ConvolutionChoice choose_convolution(const Gpu& gpu, const ConvolutionKernel& kernel, Precision precision) {
  const ConvolutionShape shape = shape_of(kernel);
  const Bytes turned = turned_tensors(gpu, kernel, shape, precision);
  const bool on_units = on_matrix_units(gpu, precision);
  // Only 16-bit numbers can do without being turned, on vector units.
  const bool unavoidable = !on_units || storage_size(precision) != Bytes(2);
  const Bytes limit = kernel.habit.workspace + (unavoidable ? turned : Bytes());
  Chooser chooser(traffic_time(gpu, least_traffic(kernel, precision), gpu.family.convolution.memory), limit);
  offer_all(gpu, kernel, shape, precision, chooser);
  // tf32 only permits the matrix units: the library may find an fp32 kernel faster. Where there is no room to turn the
  // tensors for the matrix units, vector units take them as they are.
  const bool leaves = precision == Precision::tf32 || turned > limit;
  if (leaves && on_units) offer_all(gpu, kernel, shape, Precision::fp32, chooser);
  ConvolutionChoice choice = chooser.best();
  choice.time += gpu.family.launch;
  return choice;
}

Seconds convolution_time(const Gpu& gpu, const ConvolutionKernel& kernel, Precision precision) {
  return choose_convolution(gpu, kernel, precision).time;
}

}  // namespace gpuscale
