#include "hardware/sustained_clock.hpp"

#include <algorithm>
#include <cmath>

namespace gpuscale {

namespace {

constexpr double kRoom = 25.0;          // degrees C
constexpr double kLimit = 84.0;         // the temperature that GeForce cards since Pascal hold by lowering their clock
constexpr double kLowestVoltage = 0.8;  // clock, of the highest, below which the voltage does not fall further

/// A cooler in figures.
struct CoolerFigures {
  double alone;    // degrees C of a card by itself at its board power
  double warming;  // degrees C a W by which a neighbour warms the air that the card takes in
};

/// Alone: reference blowers run close to their limit, two-fan reference cards at 74 degrees on an open bench (Tom's
/// Hardware, RTX 2080 and 2080 Ti reviews, October 2018 and January 2019); water approximate. Warming: of two open-air
/// GTX 1080 Ti (250 W) side by side the upper one reaches 84 degrees (M. Riedl, Custom cooling for dual GPU setup,
/// 2021) and is at about 70 alone (approximate): 14 / 250. Blowers and radiators leave their heat outside.
CoolerFigures figures_of(Cooler cooler) {
  switch (cooler) {
    case Cooler::blower:
      return {.alone = 82.0, .warming = 0.0};
    case Cooler::open_air:
      return {.alone = 74.0, .warming = 0.056};
    case Cooler::water:
      return {.alone = 55.0, .warming = 0.0};
  }
  return {};
}

void scale(RateTable& table, double factor) {
  for (std::optional<FlopPerSecond>& rate : table) {
    if (rate) rate = *rate * factor;
  }
}

}  // namespace

Watts coolable_power(const Gpu& gpu, const Cooling& cooling) {
  const CoolerFigures figures = figures_of(cooling.cooler);
  const double alone = (figures.alone - kRoom) / gpu.power_limit.count();
  const double degrees_per_watt = alone + figures.warming * cooling.neighbours;
  return std::min(gpu.power_limit, Watts((kLimit - kRoom) / degrees_per_watt));
}

double clock_at_power(const Gpu& gpu, Watts power) {
  if (power >= gpu.power_limit) return 1.0;
  const double part = std::max((power - gpu.idle_power) / (gpu.power_limit - gpu.idle_power), 0.01);
  const double lowest = kLowestVoltage * kLowestVoltage * kLowestVoltage;
  return part >= lowest ? std::cbrt(part) : kLowestVoltage * part / lowest;
}

Gpu at_power(Gpu gpu, Watts power) {
  const double clock = clock_at_power(gpu, power);
  if (clock >= 1.0) return gpu;
  scale(gpu.peak, clock);
  scale(gpu.matrix, clock);
  gpu.boost_clock = gpu.boost_clock * clock;
  gpu.base_clock = std::min(gpu.base_clock, gpu.boost_clock);
  // Families that count energy: a FLOP takes as much less as the squared voltage.
  const double energy = std::max(clock * clock, kLowestVoltage * kLowestVoltage);
  gpu.family.gemm.vector.picojoule *= energy;
  gpu.family.gemm.matrix.picojoule *= energy;
  gpu.power_limit = power;
  return gpu;
}

Gpu sustained(Gpu gpu, const std::optional<Cooling>& cooling, const std::optional<Watts>& power_limit) {
  Watts power = power_limit.value_or(gpu.power_limit);
  if (cooling) power = std::min(power, coolable_power(gpu, *cooling));
  return at_power(std::move(gpu), power);
}

}  // namespace gpuscale
