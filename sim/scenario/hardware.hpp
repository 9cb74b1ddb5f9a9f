#pragma once

/// \file
/// The hardware of a scenario without its job: what `topo` and `exchange` look at.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parallel/framework.hpp"
#include "scenario/library.hpp"
#include "scenario/scenario.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// A cluster and the software whose transport carries its exchanges.
struct Hardware {
  ClusterSpec cluster = {};
  Framework framework = {};
  std::vector<std::string> provenance = {};  ///< data files used, with their dates
};

/// The framework that is meant where nothing names one.
using UsualFramework = std::function<std::string(const Gpu&)>;

/// Reads the keys `cluster` and `framework` of a scenario and no others. The file may also be a machine
/// file or a cluster file; without one, the settings say everything. Where nothing says how many GPUs,
/// all slots of all nodes are meant; without a framework it is what `usual` says of the GPU, and if that
/// is empty, none is read.
/// \throws ScenarioError with every problem found.
Hardware load_hardware(const std::optional<std::filesystem::path>& file, const std::vector<Setting>& settings,
                       const UsualFramework& usual, const Library& library);

}  // namespace gpuscale
