#pragma once

/// \file
/// What could make a job smaller, before anybody knows whether it would. Internal to fit.

#include <string>
#include <vector>

#include "report/report.hpp"
#include "scenario/scenario.hpp"

namespace gpuscale {

/// A change in words and as settings.
struct ChangeIdea {
  std::string what;
  std::vector<Setting> settings;
};

/// Changes worth a try on a job. The reader may refuse them.
std::vector<ChangeIdea> change_ideas(const Scenario& scenario, const Report& report);

/// Cards of the library that have more memory than the job's and the same form (for a slot, on a board of its own, a
/// TPU) and were not sold before it, those with least memory first, then the cheapest. Only those with room for
/// `needed`, less a tenth for what depends on the card.
std::vector<ChangeIdea> card_ideas(const ScenarioFile& file, const Library& library,
                                   const std::vector<Setting>& settings, const Scenario& scenario, Bytes needed);

}  // namespace gpuscale
