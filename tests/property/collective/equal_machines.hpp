#pragma once

/// \file
/// For each algorithm a cluster of equal links on which it does its best.

#include <algorithm>
#include <string>

#include "property/collective/exchanges.hpp"

namespace gpuscale::test {

/// Bytes whose share by ranks, chunks and rates is whole picoseconds for every number of ranks up to 64: at
/// 1 GB/s a byte takes 1,000 ps.
inline Bytes size_for(std::size_t ranks) { return Bytes(static_cast<double>(ranks) * 64.0 * 1024.0); }

inline constexpr BytesPerSecond kRate{1e9};

/// A small cluster of equal links that suits an algorithm.
struct Machine {
  Topology topology;
  Transport transport;
};

/// The most even number of rows; 1 if there is no torus of so many.
inline int rows_of(int ranks) {
  int rows = 1;
  for (int a = 2; a * a <= ranks; ++a) {
    if (ranks % a == 0) rows = a;
  }
  return rows;
}

inline Machine machine_for(ExchangeAlgorithm algorithm, int ranks, Seconds latency) {
  if (algorithm == ExchangeAlgorithm::in_switch) return {nvswitch_of(ranks, kRate, latency), summing_transport()};
  if (algorithm == ExchangeAlgorithm::torus)
    return {torus_of(rows_of(ranks), ranks / rows_of(ranks), kRate, latency), {}};
  if (algorithm != ExchangeAlgorithm::hierarchical) return {star_of(ranks, kRate, latency), {}};
  const int in_box = ranks % 4 == 0 ? 4 : 2;
  return {boxes_of(ranks / in_box, in_box, kRate, latency), {}};
}

/// Whether an algorithm does this with so many ranks on the machine for it.
inline bool makes_sense(const AlgorithmEntry& entry, Collective what, int ranks) {
  const bool power = (ranks & (ranks - 1)) == 0;
  if (entry.algorithm == ExchangeAlgorithm::hierarchical) return ranks >= 4 && ranks % 2 == 0;
  if (entry.algorithm == ExchangeAlgorithm::torus) return rows_of(ranks) > 1;
  if (entry.algorithm == ExchangeAlgorithm::halving_doubling && what != Collective::all_reduce) return power;
  return what != Collective::send || ranks == 2;
}

/// "ring all-reduce 8", for CAPTURE.
inline std::string case_name(const AlgorithmEntry& entry, Collective what, int ranks) {
  return std::string(name(entry.algorithm)) + " " + std::string(name(what)) + " " + std::to_string(ranks);
}

/// When the exchange is over, whatever goes on beside it. \param others how many tasks were added before it
inline Seconds exchange_end(const Run& run, std::size_t others) {
  Time end;
  for (std::size_t i = others; i < run.timeline.tasks.size(); ++i) end = std::max(end, run.timeline.tasks[i].end);
  return end.since_start();
}

}  // namespace gpuscale::test
