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
};

/// 1024 FLOP per clock on two-byte operands: a multiprocessor of Volta or Turing with matrix units.
inline constexpr double kReferenceHunger = 2048.0;

/// The units that do a product.
struct ProductUnits {
  FlopPerSecond rate;  ///< of a large product: peak times efficiency, or what the power limit feeds
  ProductEfficiency efficiency;
  double hunger = 1.0;  ///< operand bytes a multiprocessor consumes per clock, relative to kReferenceHunger
  bool matrix = false;
};

ProductUnits product_units(const Gpu& gpu, Precision precision);

/// Arithmetic time of a product, memory not counted: the best of a short list of tile sizes and of
/// splits of the depth over multiprocessors, at `factor` of the rate of a plain GEMM.
Seconds product_time(const Gpu& gpu, const ProductUnits& units, const Product& product, double factor = 1.0);

/// Arithmetic time of equal blocks of work, each `block` FLOP and done by one multiprocessor: what is
/// left of product_time for a kernel that offers one tile only.
Seconds block_time(const Gpu& gpu, const ProductUnits& units, double blocks, Flop block, double factor);

/// Bytes over the share of the memory bandwidth that a kernel reaches.
inline Seconds traffic_time(const Gpu& gpu, Bytes moved, double share) {
  return moved / (gpu.memory_bandwidth * share);
}

}  // namespace gpuscale
