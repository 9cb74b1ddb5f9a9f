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
  Place origin = {};  ///< where it was written, for messages; without one that is "--set path"

  /// Equal settings do the same, wherever they were written.
  friend bool operator==(const Setting& a, const Setting& b) { return a.path == b.path && a.value == b.value; }
};

/// One axis of a sweep: a path and the values it takes, as YAML text.
struct SweepAxis {
  std::string path;
  std::vector<std::string> values;
  Place origin = {};  ///< where it was written, for messages

  friend bool operator==(const SweepAxis& a, const SweepAxis& b) { return a.path == b.path && a.values == b.values; }
};

/// Everything one simulation needs, names resolved.
struct Scenario {
  std::string name;
  ClusterSpec cluster;
  Job job;
  std::vector<Setting> settings;        ///< what was set from outside the file
  std::vector<std::string> provenance;  ///< data files used, with their dates
};

/// Keys that are sound one by one and cannot be together: a precision the card lacks, a batch that does
/// not divide, more GPUs than slots. Of many scenarios, the others may still run.
class UnfitScenario : public ScenarioError {
 public:
  UnfitScenario(std::vector<Problem> problems, Scenario scenario);

  /// What was asked for.
  [[nodiscard]] const Scenario& scenario() const { return *scenario_; }

 private:
  std::shared_ptr<const Scenario> scenario_;  // shared, so that copying the exception cannot throw
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

  /// The scenario with these settings applied over the file. \throws ScenarioError with every problem found;
  /// UnfitScenario if all of them are between keys.
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
