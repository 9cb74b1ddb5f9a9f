#pragma once

/// \file
/// Ways to split a job that are worth comparing when its user names none.

#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/compare.hpp"

namespace gpuscale {

/// What is to be simulated, and what was left out and why, in sentences.
struct Candidates {
  std::vector<NamedScenario> scenarios;
  std::vector<std::string> notes;
};

/// Of a Transformer that one GPU cannot train a sample of: tensor degrees within a box times pipeline stages of equal
/// blocks times copies, with ZeRO-1 where that alone makes room, ZeRO-3 over all GPUs, within boxes and beside tensor
/// parallelism, and the job as it is written. Left out is what cannot hold its state or cannot run. Nothing for other
/// jobs, for which the usual strategies are worth comparing. \throws ScenarioError for mistakes of the scenario
std::optional<Candidates> large_model_candidates(const ScenarioFile& file, const Library& library,
                                                 const std::vector<Setting>& settings);

}  // namespace gpuscale
