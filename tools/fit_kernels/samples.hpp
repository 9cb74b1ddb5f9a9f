#pragma once

/// \file
/// What constants are fitted to: measured kernels, and measured steps of whole networks on one card.

#include <filesystem>
#include <string>
#include <vector>

#include "scenario/library.hpp"
#include "scenario/scenario.hpp"
#include "study/validate_kernels.hpp"

namespace gpuscale::fit {

/// A measured kernel.
struct Sample {
  std::string id;
  std::string class_name;  ///< as in the validation rule
  std::string what;        ///< shape in words
  bool matrix = false;     ///< computed on matrix units
  KernelCase kernel;
  Seconds measured;
};

/// A measured step of a network on one card.
struct Step {
  std::string id;
  std::string source;  ///< name of the rule
  std::string what;
  Scenario scenario;
  double samples_per_second = 0.0;  ///< measured
};

/// What the rules of a folder have to offer; rows that cannot be used are left out, as `gpuscale validate` says why.
/// \throws ScenarioError if a rule or a table cannot be read
std::vector<Sample> read_samples(const std::filesystem::path& rules, const Library& library);
std::vector<Step> read_steps(const std::filesystem::path& rules, const Library& library);

}  // namespace gpuscale::fit
