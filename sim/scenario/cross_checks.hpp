#pragma once

#include "scenario/reading.hpp"
#include "scenario/scenario.hpp"

namespace gpuscale {

/// What holds between keys: degrees and GPU count, batch and replicas, card and precision, nodes and
/// fabric, layers and shapes. `sound` says which parts were read without a problem; only those are used.
struct SoundParts {
  bool workload = false;
  bool cluster = false;
  bool strategy = false;
  bool framework = false;
};

void check_across(const Scenario& scenario, const SoundParts& sound, Reading& reading);

}  // namespace gpuscale
