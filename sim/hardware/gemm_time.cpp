#include <algorithm>

#include "hardware/kernel_time.hpp"
#include "hardware/product.hpp"

namespace gpuscale {

namespace {

/// Activations arrive in 16 bits: one pass finds their largest value, one writes them in eight.
Seconds cast_time(const Gpu& gpu, const GemmKernel& kernel) {
  const double activations =
      static_cast<double>(kernel.batch) * static_cast<double>(kernel.m) * static_cast<double>(kernel.k);
  return stream_time(gpu, {.moved = Bytes(5.0 * activations), .kernels = 2});
}

/// What an operand A costs to bring in its layout, relative to a plain one.
double cost_of_a(const Gpu& gpu, const ProductUnits& units, const OperandLayout& layout) {
  const GemmEfficiency& gemm = gpu.family.gemm;
  return layout.a_transposed ? (units.matrix ? gemm.matrix : gemm.vector).transposed : 1.0;
}

}  // namespace

Seconds gemm_time(const Gpu& gpu, const GemmKernel& kernel, Precision precision) {
  const ProductUnits units = product_units(gpu, precision);
  const Product product{.m = static_cast<double>(kernel.m),
                        .n = static_cast<double>(kernel.n),
                        .k = static_cast<double>(kernel.k),
                        .batch = static_cast<double>(kernel.batch),
                        .fetched = cost_of_a(gpu, units, kernel.layout)};
  const Seconds arithmetic = product_time(gpu, units, product);
  const Bytes again = product.batch * product.m * product.k * (product.fetched - 1.0) * storage_size(precision);
  const Seconds memory = traffic_time(gpu, least_traffic(kernel, precision) + again, gpu.family.gemm.memory);
  const bool cast = precision == Precision::fp8 && on_matrix_units(gpu, precision);
  return std::max(arithmetic, memory) + gpu.family.launch + (cast ? cast_time(gpu, kernel) : Seconds());
}

}  // namespace gpuscale
