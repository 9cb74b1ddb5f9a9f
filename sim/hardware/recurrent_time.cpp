#include <algorithm>
#include <cmath>

#include "hardware/kernel_time.hpp"
#include "hardware/product.hpp"

namespace gpuscale {

namespace {

struct Layer {
  double gates;  // rows of all gates together
  double hidden;
  double input;
  double batch;
  double steps;
};

Layer layer_of(const RecurrentKernel& kernel) {
  return {.gates = static_cast<double>(gates(kernel.cell) * kernel.hidden),
          .hidden = static_cast<double>(kernel.hidden),
          .input = static_cast<double>(kernel.input),
          .batch = static_cast<double>(kernel.batch),
          .steps = static_cast<double>(kernel.steps)};
}

/// One product, its operands read and its result written once.
Seconds roofline(const Gpu& gpu, const ProductUnits& units, Precision precision, const Product& product, double factor,
                 double memory) {
  if (product.m <= 0.0 || product.n <= 0.0 || product.k <= 0.0) return Seconds();
  const double count = product.m * product.k + product.k * product.n + product.m * product.n;
  return std::max(product_time(gpu, units, product, factor),
                  traffic_time(gpu, count * storage_size(precision), memory));
}

Seconds roofline(const Gpu& gpu, Precision precision, const Product& product, double factor, double memory) {
  return roofline(gpu, product_units(gpu, precision), precision, product, factor, memory);
}

/// The units as the recurrent library drives them in a step.
ProductUnits step_units(const Gpu& gpu, Precision precision, const Product& step) {
  constexpr double kWidestTile = 128.0;
  ProductUnits units = product_units(gpu, precision);
  const bool side_by_side = std::ceil(step.m / kWidestTile) <= static_cast<double>(gpu.multiprocessors);
  if (step.n == gpu.family.recurrent.unsplit_batch && side_by_side) {
    units.narrowest_tile = kWidestTile;
    units.deepest_split = 1.0;
  }
  return units;
}

/// A step of a persistent kernel: the product runs from registers, then every multiprocessor reads the new state,
/// which the others have written, and all meet at a barrier.
Seconds persistent_step(const Gpu& gpu, const ProductUnits& units, const Product& step) {
  const Flop work(2.0 * step.m * step.n * step.k);
  const Bytes states = step.n * std::max(step.m, step.k) * units.operand_size;
  return work / units.rate + states * static_cast<double>(gpu.multiprocessors) / units.operand_rate +
         gpu.family.recurrent.persistent.barrier;
}

/// Whether each multiprocessor has room for its share of the recurrent weights.
bool stays_on_chip(const Gpu& gpu, const ProductUnits& units, const Product& step) {
  const Bytes room = gpu.family.recurrent.persistent.on_chip * static_cast<double>(gpu.multiprocessors);
  return step.m * step.k * units.operand_size <= room;
}

Seconds step_time(const Gpu& gpu, const RecurrentKernel& kernel, Precision precision, const Product& step) {
  const RecurrentEfficiency& efficiency = gpu.family.recurrent;
  const double factor = kernel.pass == Pass::forward ? efficiency.forward : efficiency.backward_data;
  const Seconds launched =
      roofline(gpu, step_units(gpu, precision, step), precision, step, factor, efficiency.memory) + efficiency.step;
  if (!kernel.persistent) return launched;
  const ProductUnits units = product_units(gpu, precision);
  return stays_on_chip(gpu, units, step) ? std::min(launched, persistent_step(gpu, units, step)) : launched;
}

}  // namespace

Seconds recurrent_time(const Gpu& gpu, const RecurrentKernel& kernel, Precision precision) {
  const RecurrentEfficiency& efficiency = gpu.family.recurrent;
  const Layer layer = layer_of(kernel);
  const double sequence = layer.batch * layer.steps;
  if (kernel.pass == Pass::backward_weights) {
    const Product all{.m = layer.gates, .n = layer.hidden + layer.input, .k = sequence};
    return roofline(gpu, precision, all, efficiency.backward_weights, gpu.family.gemm.memory) + gpu.family.launch +
           efficiency.step;
  }
  const bool forward = kernel.pass == Pass::forward;
  const Product input = forward ? Product{.m = layer.gates, .n = sequence, .k = layer.input}
                                : Product{.m = layer.input, .n = sequence, .k = layer.gates};
  const Product step = forward ? Product{.m = layer.gates, .n = layer.batch, .k = layer.hidden}
                               : Product{.m = layer.hidden, .n = layer.batch, .k = layer.gates};
  return roofline(gpu, precision, input, 1.0, gpu.family.gemm.memory) + gpu.family.launch +
         layer.steps * step_time(gpu, kernel, precision, step);
}

}  // namespace gpuscale
