#pragma once

/// \file
/// What tables of several reports say besides their rows.

#include <span>
#include <string>
#include <vector>

#include "report/columns.hpp"
#include "report/ranking.hpp"
#include "report/report.hpp"

namespace gpuscale {

struct CommonFacts {
  std::string title;               ///< the scenario's name
  std::string subtitle;            ///< model, GPU, machine and framework, as far as all points share them
  std::vector<std::string> notes;  ///< what was swept, what was set, what speed-up is against
};

/// Of refused points only the settings count.
CommonFacts common_facts(std::span<const Report> reports);

/// Place, name, time, throughput, throughput relative to the best, what fits, and why.
std::vector<TextColumn> ranking_columns(const Ranking& ranking);

}  // namespace gpuscale
