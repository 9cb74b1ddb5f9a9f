#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "units/quantity.hpp"

namespace gpuscale {

/// A kind of link, as its standard describes it and as transfers find it. Figures and their sources
/// live in topologies/links/.
struct LinkType {
  std::string id;    ///< file name, as a machine spells it
  std::string name;  ///< in words
  std::string kind;  ///< pcie, nvlink, socket, memory, infiniband, ethernet
  std::string source;
  BytesPerSecond lane_rate;  ///< one way, one lane, after the line code
  std::vector<int> lanes;    ///< counts that exist; empty: the link has no lanes
  double delivered = 1.0;    ///< fraction of the raw rate that large transfers reach
  Seconds latency;           ///< one crossing
  bool half_duplex = false;  ///< both directions share one rate
};

}  // namespace gpuscale
