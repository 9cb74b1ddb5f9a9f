#pragma once

/// \file
/// The patterns of bench/patterns.hpp in SimGrid. One run a process: its engine is global.

#include <string>
#include <vector>

#include "bench/patterns.hpp"

namespace gpuscale::bench {

/// How SimGrid solves: "Lazy" updates flows whose rates change, "Full" all of them.
enum class SimgridMode { lazy, full };

/// Times of one run.
struct SimgridRun {
  double seconds = 0;        ///< wall clock, platform not counted
  std::vector<double> ends;  ///< simulated seconds, by flow as in PatternRun, if asked for
};

/// One actor a rank.
SimgridRun simgrid_ring(const Network& network, const RingPattern& ring, SimgridMode mode, bool note_ends);

/// Who starts flows: one actor all of them, or each host's actor its own.
enum class Starters { one, per_host };

SimgridRun simgrid_flows(const Network& network, const std::vector<TimedFlow>& flows, Starters starters,
                         SimgridMode mode, bool note_ends);

/// One actor that starts a round and waits for it, or one actor a host.
SimgridRun simgrid_in_turns(const Network& network, const std::vector<TimedFlow>& flows, Turns turns, SimgridMode mode,
                            bool note_ends);

}  // namespace gpuscale::bench
