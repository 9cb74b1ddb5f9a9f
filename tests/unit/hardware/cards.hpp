#pragma once

#include <limits>

#include "hardware/gpu.hpp"

namespace gpuscale::test {

/// A made-up card with round numbers and no power limit: 10 TFLOP/s on 20 multiprocessors at 1 GHz,
/// 100 TFLOP/s on matrix units, 500 GB/s.
inline Gpu round_card() {
  Gpu card;
  card.id = "round";
  card.peak[static_cast<std::size_t>(Precision::fp64)] = FlopPerSecond(5e12);
  card.peak[static_cast<std::size_t>(Precision::fp32)] = FlopPerSecond(10e12);
  card.matrix[static_cast<std::size_t>(Precision::fp16)] = FlopPerSecond(100e12);
  card.matrix[static_cast<std::size_t>(Precision::tf32)] = FlopPerSecond(50e12);
  card.memory_bandwidth = BytesPerSecond(500e9);
  card.multiprocessors = 20;
  card.boost_clock = Hertz(1e9);
  return card;
}

/// The same card without losses: every fraction one, no ramps, no launch cost.
inline Gpu perfect_card() {
  Gpu card = round_card();
  Family& family = card.family;
  family.launch = Seconds();
  family.gemm.vector = {.efficiency = 1.0, .depth_half = 0.0, .operand_rate = std::numeric_limits<double>::infinity()};
  family.gemm.matrix = family.gemm.vector;
  family.gemm.memory = 1.0;
  const PassEfficiency all{.forward = 1.0, .backward_data = 1.0, .backward_weights = 1.0};
  const PassEfficiency none{.forward = 0.0, .backward_data = 0.0, .backward_weights = 0.0};
  family.convolution.vector = {.rate = all, .depth_half = 0.0, .operand_rate = std::numeric_limits<double>::infinity()};
  family.convolution.matrix = family.convolution.vector;
  family.convolution.winograd = none;
  family.convolution.unfused_winograd = none;
  family.convolution.strided_data = 1.0;
  family.convolution.narrow_input = 1.0;
  family.convolution.memory = 1.0;
  family.recurrent = {.step = Seconds(),
                      .memory = 1.0,
                      .forward = 1.0,
                      .backward_data = 1.0,
                      .backward_weights = 1.0,
                      .persistent = {}};
  family.attention = {.forward = 1.0, .backward = 1.0, .length_half = 0.0};
  family.stream.memory = 1.0;
  return card;
}

}  // namespace gpuscale::test
