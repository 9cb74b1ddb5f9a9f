#include "hardware/product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "units/check.hpp"

namespace gpuscale {

namespace {

struct Tile {
  double m;
  double n;
};

constexpr std::array kTiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128}, Tile{128, 64}, Tile{64, 128},
                               Tile{64, 64},   Tile{128, 32},  Tile{32, 128},  Tile{64, 32},  Tile{32, 64},
                               Tile{128, 16},  Tile{16, 128},  Tile{32, 32}};
constexpr double kShortestSplit = 32.0;  // of the depth, per part

/// What every candidate of one product shares.
struct Search {
  const Product& product;
  double multiprocessors;
  double seconds_per_flop;     // on one multiprocessor
  double seconds_per_operand;  // the same
  double depth_half;
  double deepest_split;
  bool always_split;
  double seconds_per_partial;  // writing and reading one partial sum
};

/// Of one multiprocessor, for one step along the depth.
double step_time(const Search& search, const Tile& tile) {
  return 2.0 * tile.m * tile.n * search.seconds_per_flop +
         (tile.m * search.product.fetched + tile.n) * search.seconds_per_operand;
}

double candidate_time(const Search& search, const Tile& tile, double tiles, double split) {
  const Product& product = search.product;
  const double depth = std::ceil(product.k / split);
  const double waves = std::ceil(tiles * split / search.multiprocessors);
  const double arithmetic = waves * (depth + search.depth_half) * step_time(search, tile);
  if (split <= 1.0) return arithmetic;
  return arithmetic + split * product.m * product.n * product.batch * search.seconds_per_partial;
}

double best_time_with(const Search& search, const Tile& tile) {
  const Product& product = search.product;
  const double tiles = std::ceil(product.m / tile.m) * std::ceil(product.n / tile.n) * product.batch;
  const double deepest = std::min(search.deepest_split, std::floor(product.k / kShortestSplit));
  if (search.always_split) return candidate_time(search, tile, tiles, std::max(deepest, 1.0));
  double best = candidate_time(search, tile, tiles, 1.0);
  for (const double waves : {1.0, 2.0}) {
    const double split = std::min(std::floor(waves * search.multiprocessors / tiles), deepest);
    if (split > 1.0) best = std::min(best, candidate_time(search, tile, tiles, split));
  }
  return best;
}

/// Rate at which the arithmetic alone takes the whole power of the card; it holds for every shape, since the
/// clock follows the average power and not the single kernel. Wider numbers cost more in proportion, on vector
/// units from fp32 upwards.
FlopPerSecond power_limited_rate(const Gpu& gpu, Precision precision, double picojoule, bool matrix) {
  if (picojoule <= 0.0 || gpu.power_limit.count() <= 0.0) return FlopPerSecond(std::numeric_limits<double>::infinity());
  const double size = storage_size(precision).count();
  const double relative = matrix ? size / 2.0 : std::max(size / 4.0, 1.0);
  return FlopPerSecond(gpu.power_limit.count() / (picojoule * 1e-12 * relative));
}

/// Without matrix units, narrow numbers are computed as fp32.
Bytes operand_size(const Gpu& gpu, Precision precision) {
  const bool computed_as_fp32 = !on_matrix_units(gpu, precision) && precision != Precision::fp64;
  return storage_size(computed_as_fp32 ? Precision::fp32 : precision);
}

}  // namespace

ProductUnits product_units(const Gpu& gpu, Precision precision) {
  const bool matrix = on_matrix_units(gpu, precision);
  const ProductEfficiency& efficiency = matrix ? gpu.family.gemm.matrix : gpu.family.gemm.vector;
  const double eight_bit = matrix && precision == Precision::fp8 ? efficiency.eight_bit : 1.0;
  const FlopPerSecond rate = peak_matrix_rate(gpu, precision) * (efficiency.efficiency * eight_bit);
  return {.rate = std::min(rate, power_limited_rate(gpu, precision, efficiency.picojoule, matrix)),
          .operand_rate = operand_rate(gpu, efficiency.operand_rate),
          .operand_size = operand_size(gpu, precision),
          .depth_half = efficiency.depth_half,
          .narrowest_tile = efficiency.narrowest_tile,
          .matrix = matrix};
}

BytesPerSecond operand_rate(const Gpu& gpu, double bytes_per_clock) {
  if (gpu.boost_clock.count() <= 0.0) return BytesPerSecond(std::numeric_limits<double>::infinity());
  return BytesPerSecond(bytes_per_clock * gpu.boost_clock.count() * gpu.multiprocessors);
}

Seconds product_time(const Gpu& gpu, const ProductUnits& units, const Product& product, double factor) {
  check(product.m > 0 && product.n > 0 && product.k > 0 && product.batch > 0, "a matrix product has positive sizes");
  const double bandwidth = gpu.memory_bandwidth.count() * gpu.family.gemm.memory;
  const Search search{
      .product = product,
      .multiprocessors = static_cast<double>(gpu.multiprocessors),
      .seconds_per_flop = gpu.multiprocessors / (units.rate.count() * factor),
      .seconds_per_operand = gpu.multiprocessors * (units.operand_size / units.operand_rate).count() / factor,
      .depth_half = units.depth_half,
      .deepest_split = units.deepest_split,
      .always_split = units.always_split,
      .seconds_per_partial = 8.0 / bandwidth};
  double best = best_time_with(search, kTiles[0]);
  for (const Tile& tile : kTiles) {
    if (std::min(tile.m, tile.n) < units.narrowest_tile) continue;
    best = std::min(best, best_time_with(search, tile));
  }
  return Seconds(best);
}

Seconds block_time(const Gpu& gpu, const ProductUnits& units, double blocks, Flop block, double operands,
                   double factor) {
  const double processors = static_cast<double>(gpu.multiprocessors);
  const Seconds one = block / units.rate + operands * units.operand_size / units.operand_rate;
  return std::ceil(blocks / processors) * processors * one / factor;
}

}  // namespace gpuscale
