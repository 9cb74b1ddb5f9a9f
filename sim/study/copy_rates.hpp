#pragma once

#include <span>
#include <vector>

#include "topology/topology.hpp"

namespace gpuscale {

/// A copy from one device to another, large enough for latency not to count.
struct Copy {
  DeviceId from;
  DeviceId to;
};

/// The rate of a copy that has the machine to itself.
BytesPerSecond rate_alone(const Topology& topology, const Copy& copy);

/// The rates of copies that all run at once, max-min fair, in the order given.
std::vector<BytesPerSecond> rates_together(const Topology& topology, std::span<const Copy> copies);

/// Two halves of some GPUs and what crosses between them.
struct Halves {
  std::vector<DeviceId> first;
  std::vector<DeviceId> second;
  BytesPerSecond rate;  ///< one way, all copies together, the other way carrying the same at the same time
};

/// The bisection bandwidth over many ways to halve.
struct Bisection {
  Halves worst;
  Halves best;
  std::size_t tried = 0;    ///< ways to halve
  bool exhaustive = false;  ///< they were all there are
};

/// Up to this many GPUs every way to halve them is tried.
inline constexpr std::size_t kExhaustiveHalves = 16;

/// Up to kExhaustiveHalves GPUs: every pair of halves, every GPU sending to every GPU of the other half.
/// Above, a few ways of many: the first half of the list against the second, every other GPU (box, if there are
/// several) against the rest, and the first half of every box against the second, every GPU sending to its counterpart.
/// \pre at least two GPUs.
Bisection bisect(const Topology& topology, std::span<const DeviceId> gpus);

}  // namespace gpuscale
