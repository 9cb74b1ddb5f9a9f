#pragma once

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"
#include "scenario/scenario.hpp"
#include "study/simulate.hpp"
#include "study/sweep.hpp"

namespace gpuscale::test {

/// The reports of a scenario's own sweep, in order.
inline std::vector<Report> sweep_of(const std::filesystem::path& scenario) {
  const Library library({GPUSCALE_SOURCE_DIR});
  const ScenarioFile file = ScenarioFile::open(scenario);
  std::vector<Report> reports;
  for (const std::vector<Setting>& settings : expand(file.sweep())) {
    reports.push_back(simulate(file.resolve(library, settings)));
  }
  return reports;
}

inline std::filesystem::path shipped_path(std::string_view name) {
  return std::filesystem::path(GPUSCALE_SOURCE_DIR) / "workloads/scenarios" / (std::string(name) + ".yaml");
}

/// The same for a shipped scenario by name.
inline std::vector<Report> shipped(std::string_view name) { return sweep_of(shipped_path(name)); }

/// A shipped scenario with other settings, without its sweep.
inline Report shipped_with(std::string_view name, const std::vector<Setting>& settings) {
  const Library library({GPUSCALE_SOURCE_DIR});
  return simulate(ScenarioFile::open(shipped_path(name)).resolve(library, settings));
}

/// A published figure and ours, with the error in percent.
inline void print_beside(std::string_view what, double published, double ours) {
  fmt::print("  {:<52} published {:>9.4g}  ours {:>9.4g}  {:+6.1f} %\n", what, published, ours,
             100 * (ours / published - 1.0));
}

/// The same; gives the error as a fraction.
inline double error_of(std::string_view what, double published, double ours) {
  print_beside(what, published, ours);
  return std::abs(ours / published - 1.0);
}

/// The value of a setting of a report.
inline std::string setting(const Report& report, std::string_view path) {
  for (const auto& [key, value] : report.settings) {
    if (key == path) return value;
  }
  return {};
}

}  // namespace gpuscale::test
