#pragma once

/// \file
/// Options that several subcommands share.

#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "report/assertion.hpp"
#include "report/report.hpp"
#include "scenario/scenario.hpp"

namespace gpuscale::tool {

enum class Format { table, json, csv, md };

/// A word of --format. \throws UsageError
Format read_format(const std::string& word);

/// How the result is written.
struct OutputOptions {
  std::string format = "table";
  std::string output = "-";
  bool quiet = false;
  bool verbose = false;

  void add_to(ArgumentParser& parser);
  /// A line on stderr that --quiet takes away.
  void note(const std::string& text) const;
};

/// What is set in a scenario and what must hold in its report.
struct ScenarioOptions {
  std::vector<std::string> set;
  std::vector<std::string> conditions;
  bool no_fold = false;

  void add_to(ArgumentParser& parser);
  /// \throws UsageError
  [[nodiscard]] std::vector<Setting> settings() const;
  /// \throws UsageError
  [[nodiscard]] std::vector<Assertion> assertions() const;
};

/// Names every violation on stderr; true if there is none. `name` tells reports apart and may be empty.
bool all_hold(const std::vector<Assertion>& assertions, const Report& report, const std::string& name);

/// --jobs; as many as there are processors if not given.
struct JobsOption {
  std::optional<int> jobs;

  void add_to(ArgumentParser& parser);
  /// \throws UsageError
  [[nodiscard]] int count() const;
};

/// The data files this program finds. Names useless folders of GPUSCALE_PATH on stderr.
/// \throws ScenarioError, which says where it looked, if there are none at all.
Library open_library(const Invocation& invocation);

/// Runs `read`, whose std::invalid_argument becomes a UsageError.
template <class Read>
auto usage_checked(const Read& read) {
  try {
    return read();
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

}  // namespace gpuscale::tool
