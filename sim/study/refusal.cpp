#include "study/refusal.hpp"

#include <fmt/format.h>

#include "topology/cards.hpp"

namespace gpuscale {

Report refusal(const Scenario& scenario, std::span<const Problem> problems) {
  Report report;
  report.scenario = scenario.name;
  for (const Setting& setting : scenario.settings) report.settings.emplace_back(setting.path, setting.value);
  report.model = scenario.job.transfer ? "transfer" : scenario.job.model.name;
  report.gpu = cards_in_words(scenario.cluster);
  report.machine = scenario.cluster.machine.name;
  report.framework = scenario.job.framework.name;
  report.gpus = scenario.cluster.gpus;
  report.nodes = scenario.cluster.nodes;
  report.problem = problems.empty() ? "cannot be simulated" : problems.front().text;
  if (problems.size() > 1) report.problem += fmt::format(" (and {} more)", problems.size() - 1);
  return report;
}

}  // namespace gpuscale
