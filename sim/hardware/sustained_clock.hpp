#pragma once

/// \file
/// Clocks that a card keeps up: power limits below the board's, and heat between cards side by side.

#include <optional>

#include "hardware/gpu.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// How the cards of a box are cooled. All are taken to be as hot as the one with all neighbours: the others wait for
/// it.
struct Cooling {
  Cooler cooler = Cooler::blower;
  int neighbours = 0;  ///< cards side by side with it; [0, 15]

  bool operator==(const Cooling&) const = default;
};

/// The power at which a card stays below its temperature limit, no more than its own limit. With every card at power P:
///
///     room + P (alone + neighbours x warming) <= limit
///
/// where `alone` is what the cooler warms at the card's board power by itself, so every cooler suits its card.
Watts coolable_power(const Gpu& gpu, const Cooling& cooling);

/// The clock at a power, as a fraction of that at the board's limit; (0, 1]. What exceeds idle power goes with f V^2,
/// and V with f down to a lowest voltage: P - idle ~ f^3, and below that ~ f.
double clock_at_power(const Gpu& gpu, Watts power);

/// The card at this power: arithmetic rates and clocks lower, memory as before.
Gpu at_power(Gpu gpu, Watts power);

/// The card under a power limit and in its place in the box, whichever holds it more.
Gpu sustained(Gpu gpu, const std::optional<Cooling>& cooling, const std::optional<Watts>& power_limit);

}  // namespace gpuscale
