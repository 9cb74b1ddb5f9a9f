#include <algorithm>
#include <cmath>

#include "hardware/kernel_time.hpp"
#include "hardware/product.hpp"

namespace gpuscale {

namespace {

constexpr double kQueryTile = 128.0;

/// Flash attention: one block per tile of queries and head walks over the keys. The backward pass
/// computes the scores again: five products instead of four.
Seconds fused_time(const Gpu& gpu, const AttentionKernel& kernel, Precision precision) {
  const AttentionEfficiency& efficiency = gpu.family.attention;
  const bool forward = kernel.pass == Pass::forward;
  const ProductUnits units = product_units(gpu, precision);
  const double reached = forward ? efficiency.forward : efficiency.backward;
  const FlopPerSecond rate = std::min(peak_matrix_rate(gpu, precision) * reached, units.rate);

  const double queries = static_cast<double>(kernel.query_length);
  const double tiles = std::ceil(queries / kQueryTile) * static_cast<double>(kernel.batch * kernel.heads);
  const double processors = static_cast<double>(gpu.multiprocessors);
  const double waves = std::ceil(tiles / processors) * processors / tiles;
  const double keys = static_cast<double>(kernel.key_length) * (kernel.causal ? 0.5 : 1.0);
  const double ramp = keys / (keys + efficiency.length_half);

  const Seconds arithmetic = flop(kernel) * visible_share(kernel) * (forward ? 1.0 : 1.25) * waves / (rate * ramp);
  const Seconds memory = traffic_time(gpu, least_traffic(kernel, precision), gpu.family.stream.memory);
  return std::max(arithmetic, memory) + gpu.family.launch * (forward ? 1.0 : 2.0);
}

/// Score and value products as batched GEMMs over the whole score matrix, masked or not, and softmax
/// with its scale, mask and dropout as three passes over the scores (four backward).
Seconds plain_time(const Gpu& gpu, const AttentionKernel& kernel, Precision precision) {
  const std::int64_t pairs = kernel.batch * kernel.heads;
  const GemmKernel scores{
      .m = kernel.query_length, .n = kernel.key_length, .k = kernel.head_size, .batch = pairs, .layout = kTransposedA};
  const GemmKernel values{.m = kernel.query_length, .n = kernel.head_size, .k = kernel.key_length, .batch = pairs};
  const Bytes matrix = static_cast<double>(pairs) * static_cast<double>(kernel.query_length) *
                       static_cast<double>(kernel.key_length) * storage_size(precision);
  const bool forward = kernel.pass == Pass::forward;
  const Seconds products = gemm_time(gpu, scores, precision) + gemm_time(gpu, values, precision);
  const Seconds multiplied = products * (forward ? 1.0 : 2.0);
  if (kernel.scores_apart) return multiplied;
  const StreamKernel softmax{.moved = (forward ? 6.0 : 8.0) * matrix, .kernels = 3};
  return multiplied + stream_time(gpu, softmax);
}

}  // namespace

Seconds attention_time(const Gpu& gpu, const AttentionKernel& kernel, Precision asked) {
  // Training in fp8 multiplies weights in 8 bits; scores and values stay in 16 (Transformer Engine, torchao).
  const Precision precision = asked == Precision::fp8 ? Precision::bf16 : asked;
  return kernel.fused ? fused_time(gpu, kernel, precision) : plain_time(gpu, kernel, precision);
}

}  // namespace gpuscale
