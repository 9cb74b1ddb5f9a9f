#pragma once

/// \file
/// From YAML to a Scenario: the only code that knows YAML.

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "parallel/job.hpp"
#include "scenario/library.hpp"
#include "topology/machine_spec.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale {

struct YamlDocument;

/// A setting by path, as `--set cluster.gpus=4` or a sweep axis writes it: the value is YAML text.
struct Setting {
  std::string path;
  std::string value;

  bool operator==(const Setting&) const = default;
};

/// One axis of a sweep: a path and the values it takes, as YAML text.
struct SweepAxis {
  std::string path;
  std::vector<std::string> values;

  bool operator==(const SweepAxis&) const = default;
};

/// Everything one simulation needs, names resolved.
struct Scenario {
  std::string name;
  ClusterSpec cluster;
  Job job;
  std::vector<Setting> settings;        ///< what was set from outside the file
  std::vector<std::string> provenance;  ///< data files used, with their dates
};

/// A scenario document read once, from which points are made by applying settings. Safe to resolve from
/// several threads.
class ScenarioFile {
 public:
  /// Reads YAML text. \throws ScenarioError if it is not a usable YAML document.
  static ScenarioFile parse(std::string text, std::string file_name);
  /// Reads a file; `-` is standard input. \throws ScenarioError if it cannot be read.
  static ScenarioFile open(const std::filesystem::path& path);

  /// The axes of its `sweep:` key, in the order written.
  [[nodiscard]] const std::vector<SweepAxis>& sweep() const { return sweep_; }

  /// The scenario with these settings applied over the file. \throws ScenarioError with every problem found.
  [[nodiscard]] Scenario resolve(const Library& library, const std::vector<Setting>& settings) const;

  /// The same; adds every key path that was asked for to `asked`, whether the file has it or not.
  [[nodiscard]] Scenario resolve(const Library& library, const std::vector<Setting>& settings,
                                 std::set<std::string>* asked) const;

 private:
  std::shared_ptr<const YamlDocument> document_;
  std::string file_name_;
  std::vector<SweepAxis> sweep_;
  std::vector<Problem> sweep_problems_;  ///< told by resolve, with all others
};

/// ScenarioFile::open(path).resolve(library, settings).
Scenario load_scenario(const std::filesystem::path& path, const Library& library,
                       const std::vector<Setting>& settings = {});

}  // namespace gpuscale
