#pragma once

/// \file
/// The hardware a command looks at: of a file, or said on the command line.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "scenario/hardware.hpp"

namespace gpuscale::tool {

/// FILE or --machine, and what is changed in it.
struct HardwareOptions {
  std::vector<std::string> files;
  std::string machine;
  std::string gpu;
  std::optional<int> gpus;
  std::optional<int> nodes;
  std::string fabric;
  std::string framework;  ///< of --framework, which exchange has
  std::vector<std::string> set;

  void add_to(ArgumentParser& parser);
  /// \throws UsageError if neither a file nor a machine is given; ScenarioError for bad input
  /// \param usual the framework where nothing names one; empty: none is read
  [[nodiscard]] Hardware load(const Invocation& invocation, const UsualFramework& usual = {}) const;

  /// What may be files that are read; a name is no file and does no harm here.
  [[nodiscard]] std::vector<std::filesystem::path> inputs() const;

 private:
  [[nodiscard]] std::vector<Setting> settings() const;
};

}  // namespace gpuscale::tool
