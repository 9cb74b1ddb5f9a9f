#include "hardware/gpu.hpp"

#include "units/check.hpp"

namespace gpuscale {

bool on_matrix_units(const Gpu& gpu, Precision precision) { return rate_at(gpu.matrix, precision).has_value(); }

FlopPerSecond peak_matrix_rate(const Gpu& gpu, Precision precision) {
  if (const auto matrix = rate_at(gpu.matrix, precision)) return *matrix;
  const Precision computed = precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
  const auto vector = rate_at(gpu.peak, computed);
  check(vector.has_value(), "a GPU has a rate for the precision it computes in");
  return *vector;
}

}  // namespace gpuscale
