#pragma once

/// \file
/// Whether a job fits in the memory of its GPUs, and what would make it smaller.

#include <string>
#include <vector>

#include "report/report.hpp"
#include "scenario/scenario.hpp"

namespace gpuscale {

/// A change of a job and what the job is with it.
struct MemoryChange {
  std::string what;               ///< in words: "half the batch"
  std::vector<Setting> settings;  ///< what to set for it
  Report report;                  ///< of the job with it; no speed-up

  /// Bytes of one GPU that it saves of what `before` needs; negative if it takes more.
  [[nodiscard]] Bytes saves(const Report& before) const {
    return before.memory.footprint.total() - report.memory.footprint.total();
  }
};

/// A job as asked, and the changes that save memory.
struct Fit {
  Report report;                      ///< no speed-up
  std::vector<MemoryChange> changes;  ///< the one that saves most first; a larger card last
};

/// Simulates the job and each change on its own: half the batch and the largest that fits, 16-bit numbers, recomputing
/// activations, ZeRO stages, splitting layers or stages further, an 8-bit optimizer, the
/// library's smallest card of the same form that is large enough and not older. If no change alone makes the job fit,
/// they are put together until it does, those that save most first and those that cost least speed first. Changes that
/// the job cannot take, or that save less than half a percent, are left out. \throws ScenarioError if the job as asked
/// cannot be simulated
Fit examine_fit(const ScenarioFile& file, const Library& library, const std::vector<Setting>& settings);

/// The change, or changes put together, with which the job fits: of those without another card, or else of all, the
/// fastest per sample. Null if there is none.
const MemoryChange* best_way_to_fit(const Fit& fit);

}  // namespace gpuscale
