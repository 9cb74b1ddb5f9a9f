#pragma once

#include <string>
#include <vector>

#include "report/columns.hpp"
#include "study/topology_report.hpp"

namespace gpuscale {

/// A table of a described topology with what stands around it.
struct TopologySection {
  std::string title;
  std::vector<TextColumn> columns;
  std::vector<std::string> notes;  ///< lines below
  bool is_matrix = false;          ///< may be cut into blocks of columns; the first column stays
};

/// All sections in order, matrices if `matrices`.
std::vector<TopologySection> topology_sections(const TopologyReport& report, bool matrices);

/// "4 x gtx-1080-ti", or "1x rtx-3090 + 1x gtx-1080".
std::string gpus_in_words(const TopologyReport& report);

/// What the report is about, a line each.
std::vector<std::string> topology_head(const TopologyReport& report);

}  // namespace gpuscale
