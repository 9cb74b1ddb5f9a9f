#pragma once

/// \file
/// The matrix product beneath GEMM, convolution, recurrent layers and attention: tiles, waves over the
/// multiprocessors, ramp over the depth. Used by the kernel times only.

#include "hardware/gpu.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// C[m,n] += A[m,k] x B[k,n], `batch` times. Sizes are real numbers because some kernels are only
/// equivalent to a product.
struct Product {
  double m = 1.0;
  double n = 1.0;
  double k = 1.0;
  double batch = 1.0;
  /// Cost of fetching A for tiles: less than one where A repeats itself (windows of a convolution), more where it lies
  /// transposed.
  double fetched = 1.0;
};

/// The units that do a product.
struct ProductUnits {
  FlopPerSecond rate;           ///< of tiles whose operands are there: peak times efficiency, or what power feeds
  BytesPerSecond operand_rate;  ///< at which all multiprocessors together bring operands to their tiles
  Bytes operand_size;           ///< of one number of a tile
  double depth_half = 0.0;      ///< as in ProductEfficiency
  double narrowest_tile = 16.0;
  double deepest_split = 64.0;  ///< of the depth over multiprocessors
  bool always_split = false;    ///< into as many parts, whether it pays or not
  bool matrix = false;
  bool narrow = false;  ///< 16-bit numbers on vector units with a rate of their own for them
};

ProductUnits product_units(const Gpu& gpu, Precision precision);

/// Bytes per clock and multiprocessor as a rate of the whole card; no limit if the card states no clock.
BytesPerSecond operand_rate(const Gpu& gpu, double bytes_per_clock);

/// Arithmetic time of a product, memory not counted: the best of a short list of tile sizes and of
/// splits of the depth over multiprocessors, at `factor` of the rate of a plain GEMM.
Seconds product_time(const Gpu& gpu, const ProductUnits& units, const Product& product, double factor = 1.0);

/// Arithmetic time of equal blocks of work, each done by one multiprocessor and of `block` FLOP on `operands`
/// numbers: what is left of product_time for a kernel that offers one tile only.
Seconds block_time(const Gpu& gpu, const ProductUnits& units, double blocks, Flop block, double operands,
                   double factor);

/// Bytes over the share of the memory bandwidth that a kernel reaches.
inline Seconds traffic_time(const Gpu& gpu, Bytes moved, double share) {
  return moved / (gpu.memory_bandwidth * share);
}

}  // namespace gpuscale
