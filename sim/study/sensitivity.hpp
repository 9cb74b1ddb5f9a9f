#pragma once

/// \file
/// Which figures of the hardware a job's step time depends on, by simulating it again with each figure changed.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parallel/job.hpp"
#include "report/report.hpp"
#include "scenario/scenario.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// A figure of the hardware, and how to have more or less of it.
struct Figure {
  std::string key;   ///< memory_bandwidth
  std::string name;  ///< "memory bandwidth"
  std::string now;   ///< "616 GB/s"
  /// Makes the figure `factor` times as good: a rate times it, a time divided by it. Empty: it is there or not.
  std::function<void(Job&, ClusterSpec&, double factor)> scale = {};
  /// What is simulated instead of half the figure: the hardware without it. Empty: half of it.
  std::function<void(Job&, ClusterSpec&)> remove = {};
  bool removal_halves = false;  ///< what is there without it counts as half of it: then it has an elasticity too
  std::string note = {};        ///< what has to be known to read it
};

/// What a figure does to a job.
struct FigureEffect {
  std::string key;
  std::string name;
  std::string now;
  /// Percent of throughput that one percent of the figure brings: the slope of log(throughput) over log(figure), from
  /// the figure 10 % better and 10 % worse; of 16-bit numbers, from numbers of twice the size. Nothing where it is
  /// only there or not.
  std::optional<double> elasticity = {};
  bool scales = true;     ///< there can be more of it; else it is there or not
  bool removed = false;   ///< `worse` is without it, not with half of it
  double worse = 1.0;     ///< step time with half as good a figure, or without it, over the step time
  bool fits = true;       ///< the job in memory with half as good a figure, or as it is not in any case
  std::string note = {};  ///< what has to be known to read it
  std::string sentence = {};

  /// Throughput with the figure 10 % better over that of now, less one.
  [[nodiscard]] double gain() const;
  /// Whether half of it, or none, makes a difference.
  [[nodiscard]] bool matters() const;
};

struct Sensitivity {
  Report report;                      ///< of the job as it is; no speed-up
  std::vector<FigureEffect> effects;  ///< what would be missed most first
  std::string verdict;                ///< one sentence
};

/// The figures of a scenario's hardware: matrix units, FLOP/s of the other units and those of the card without
/// matrix units, memory bandwidth, 16-bit numbers, clock,
/// memory size, rate of every kind of link, latency of links, speed of the host, cost of an exchange, input.
std::vector<Figure> figures_of(const Scenario& scenario);

/// Simulates the job with every figure changed, `jobs` simulations at a time; the result does not depend on it.
/// \throws ScenarioError if the job as it is cannot be simulated
Sensitivity examine_sensitivity(const Scenario& scenario, int jobs, const std::atomic<bool>* stop = nullptr);

}  // namespace gpuscale
