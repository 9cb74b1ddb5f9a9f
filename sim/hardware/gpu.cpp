#include "hardware/gpu.hpp"

#include "units/check.hpp"

namespace gpuscale {

bool on_matrix_units(const Gpu& gpu, Precision precision) { return rate_at(gpu.matrix, precision).has_value(); }

BytesPerSecond memory_bandwidth_in_use(const Gpu& gpu, Bytes used) {
  if (!gpu.fast_memory_size || !gpu.slow_memory_bandwidth || used <= *gpu.fast_memory_size) return gpu.memory_bandwidth;
  const double slow_share = (used - *gpu.fast_memory_size) / used;
  const double seconds_per_byte =
      (1.0 - slow_share) / gpu.memory_bandwidth.count() + slow_share / gpu.slow_memory_bandwidth->count();
  return BytesPerSecond(1.0 / seconds_per_byte);
}

FlopPerSecond peak_matrix_rate(const Gpu& gpu, Precision precision) {
  if (const auto matrix = rate_at(gpu.matrix, precision)) return *matrix;
  const Precision computed = precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
  const auto vector = rate_at(gpu.peak, computed);
  check(vector.has_value(), "a GPU has a rate for the precision it computes in");
  return *vector;
}

}  // namespace gpuscale
