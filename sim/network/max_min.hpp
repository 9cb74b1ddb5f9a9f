#pragma once

#include <limits>
#include <span>
#include <vector>

#include "units/channel_load.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// The rate of a flow that has no cap of its own.
inline constexpr BytesPerSecond kUncapped{std::numeric_limits<double>::infinity()};

/// A flow that wants to go as fast as it may. Several loads on one channel add up.
struct FlowDemand {
  std::vector<ChannelLoad> loads;
  BytesPerSecond cap = kUncapped;  ///< positive; a flow without loads must have a finite one

  bool operator==(const FlowDemand&) const = default;
};

/// Rates of concurrent flows under max-min fairness: no flow can go faster without slowing
/// another that is already no faster. Pure arithmetic; knows no clock and no topology.
///
/// With weights this means: all rates rise together from zero; a flow stops at its cap; a channel
/// is full when the sum of weight * rate over its flows reaches its capacity, and then all its
/// flows stop. Rates come in the order of the demands.
/// \pre capacities are positive and finite, and every load names one of them.
std::vector<BytesPerSecond> max_min_rates(std::span<const BytesPerSecond> capacity,
                                          std::span<const FlowDemand> demands);

}  // namespace gpuscale
