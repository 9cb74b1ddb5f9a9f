#include "hardware/convolution_transforms.hpp"

#include <algorithm>
#include <cmath>

namespace gpuscale {

namespace {

/// F(m x m, r x r): an output tile of m pixels a side costs (m + r - 1)^2 products per pair of channels.
struct Winograd {
  double output;
  double points;
};

double winograd_tiles(const ConvolutionKernel& kernel, const Winograd& transform) {
  return real(kernel.batch) * std::ceil(real(kernel.out_height) / transform.output) *
         std::ceil(real(kernel.out_width) / transform.output);
}

constexpr double kComplex = 8.0;  // bytes of two fp32 numbers

/// Tiles of the batch, of which all but the rim that a window overlaps is of use.
double fourier_tiles(const ConvolutionKernel& kernel, const FourierTile& tile) {
  const bool to_input = kernel.pass == Pass::backward_data;
  const double high = real(to_input ? kernel.height : kernel.out_height);
  const double wide = real(to_input ? kernel.width : kernel.out_width);
  return real(kernel.batch) * std::ceil(high / (tile.side + 1.0 - real(kernel.kernel_height))) *
         std::ceil(wide / (tile.side + 1.0 - real(kernel.kernel_width)));
}

/// A product of complex numbers is one of real numbers with twice the width and twice the depth.
Product fourier_product(Pass pass, const ConvolutionShape& shape, double tiles, double points) {
  switch (pass) {
    case Pass::forward:
      return {tiles, 2.0 * shape.out, 2.0 * shape.in, points};
    case Pass::backward_data:
      return {tiles, 2.0 * shape.in, 2.0 * shape.out, points};
    case Pass::backward_weights:
      return {shape.in, 2.0 * shape.out, 2.0 * tiles, points};
  }
  return {};
}

/// Time of a product at the full rate of its units, which none is below.
Seconds least_time(const ProductUnits& units, const Product& product, double factor) {
  return Flop(2.0 * product.m * product.n * product.k * product.batch) / (units.rate * factor);
}

}  // namespace

std::optional<ConvolutionWay> fused_winograd(const Gpu& gpu, const ConvolutionKernel& kernel,
                                             const ConvolutionShape& shape, const ProductUnits& units) {
  constexpr Winograd kTransform{.output = 2.0, .points = 16.0};
  // A block transforms 32 tiles, multiplies them for 64 channels and transforms back.
  constexpr double kTiles = 32.0;
  constexpr double kChannels = 64.0;
  const double factor = factor_of(gpu.family.convolution.winograd, kernel.pass);
  const bool is_3x3 = kernel.kernel_height == 3 && kernel.kernel_width == 3;
  if (!is_3x3 || factor <= 0.0 || kernel.pass == Pass::backward_weights) return std::nullopt;
  const bool forward = kernel.pass == Pass::forward;
  const double blocks =
      std::ceil(winograd_tiles(kernel, kTransform) / kTiles) * std::ceil((forward ? shape.out : shape.in) / kChannels);
  const double depth = (forward ? shape.in : shape.out) + units.depth_half;
  const Flop block(2.0 * kTransform.points * kTiles * kChannels * depth);
  const double operands = kTransform.points * (kTiles * fetched_share(shape) + kChannels) * depth;
  return ConvolutionWay{.algorithm = ConvolutionAlgorithm::winograd,
                        .arithmetic = block_time(gpu, units, blocks, block, operands, factor)};
}

std::optional<ConvolutionWay> unfused_winograd(const Gpu& gpu, const ConvolutionKernel& kernel,
                                               const ConvolutionShape& shape, const ProductUnits& units,
                                               Seconds to_beat) {
  constexpr Winograd k3x3{.output = 4.0, .points = 36.0};
  constexpr Winograd k5x5{.output = 5.0, .points = 81.0};  // winograd_nonfused 9x9_5x5, as profiles name it
  const double factor = factor_of(gpu.family.convolution.unfused_winograd, kernel.pass);
  const bool square = kernel.kernel_height == kernel.kernel_width;
  const bool exists = square && (kernel.kernel_height == 3 || kernel.kernel_height == 5);
  if (!exists || factor <= 0.0) return std::nullopt;
  const Winograd& transform = kernel.kernel_height == 3 ? k3x3 : k5x5;
  const double tiles = winograd_tiles(kernel, transform);
  Product product{tiles, shape.out, shape.in, transform.points};
  if (kernel.pass == Pass::backward_data) product = {tiles, shape.in, shape.out, transform.points};
  if (kernel.pass == Pass::backward_weights) product = {shape.in, shape.out, tiles, transform.points};
  const double elements = transform.points * (tiles * (shape.in + shape.out) + shape.in * shape.out);
  const Bytes transformed = elements * storage_size(Precision::fp32);
  // Transformed tensors are written and read.
  const Seconds moved = traffic_time(gpu, 2.0 * transformed, gpu.family.convolution.memory);
  if (least_time(units, product, factor) + moved >= to_beat) return std::nullopt;
  return ConvolutionWay{.algorithm = ConvolutionAlgorithm::unfused_winograd,
                        .arithmetic = product_time(gpu, units, product, factor) + moved,
                        .workspace = transformed};
}

std::optional<ConvolutionWay> fourier(const Gpu& gpu, const ConvolutionKernel& kernel, const ConvolutionShape& shape,
                                      const ProductUnits& units, const FourierTile& tile, Seconds to_beat) {
  constexpr double kFurtherLaunches = 3.0;  // two transforms before the product and one after it
  const double longest = real(std::max(kernel.kernel_height, kernel.kernel_width));
  const double factor = factor_of(gpu.family.convolution.fft, kernel.pass);
  if (shape.window <= 1.0 || longest > tile.side || factor <= 0.0) return std::nullopt;
  const double memory = gpu.family.convolution.memory;
  const double tiles = fourier_tiles(kernel, tile);
  const double planes = tiles * (shape.in + shape.out) + shape.in * shape.out;  // transformed, there or back
  const Bytes spectra(planes * tile.points() * kComplex);
  const Bytes plain = planes * tile.pixels() * storage_size(Precision::fp32);
  const Seconds transforms =
      std::max(traffic_time(gpu, spectra + plain, memory), Flop(planes * tile.flop()) / units.rate) +
      gpu.family.launch * kFurtherLaunches;
  const Product product = fourier_product(kernel.pass, shape, tiles, tile.points());
  const Seconds moved = traffic_time(gpu, spectra, memory);
  if (transforms + std::max(least_time(units, product, factor), moved) >= to_beat) return std::nullopt;
  return ConvolutionWay{.algorithm = ConvolutionAlgorithm::fft,
                        .arithmetic = transforms + std::max(product_time(gpu, units, product, factor), moved),
                        .workspace = spectra};
}

}  // namespace gpuscale
