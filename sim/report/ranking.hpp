#pragma once

/// \file
/// Reports in the order of merit: what a comparison tells.

#include <string>
#include <vector>

#include "report/report.hpp"

namespace gpuscale {

struct RankedReport {
  int rank = 1;           ///< 0: it cannot run and has no place
  std::string name;       ///< how the user calls it: a file or a strategy
  double relative = 1.0;  ///< throughput / throughput of the first; 0 if it cannot run
  std::string why;        ///< a few words
  Report report;
};

struct Ranking {
  std::vector<RankedReport> entries;    ///< best first
  std::string verdict;                  ///< one sentence: what wins and why
  std::vector<std::string> notes = {};  ///< how the entries were chosen; may be empty
};

}  // namespace gpuscale
