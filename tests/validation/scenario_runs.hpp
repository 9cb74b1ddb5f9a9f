#pragma once

#include <filesystem>
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

/// The same for a shipped scenario by name.
inline std::vector<Report> shipped(std::string_view name) {
  return sweep_of(std::filesystem::path(GPUSCALE_SOURCE_DIR) / "workloads/scenarios" / (std::string(name) + ".yaml"));
}

/// The value of a setting of a report.
inline std::string setting(const Report& report, std::string_view path) {
  for (const auto& [key, value] : report.settings) {
    if (key == path) return value;
  }
  return {};
}

}  // namespace gpuscale::test
