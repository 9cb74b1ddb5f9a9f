#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/quantity.hpp"

namespace gpuscale {

/// How a collective library carries data over a link: with a flag beside every word (ll), beside every
/// line of 128 bytes (ll128), or in whole buffers that are signalled when full (simple). Small exchanges
/// trade rate for latency.
enum class Protocol { ll, ll128, simple };

inline constexpr std::array<std::string_view, 3> kProtocolNames = {"ll", "ll128", "simple"};

/// What a protocol makes of a link.
struct LinkProtocol {
  Seconds start = {};      ///< once an exchange: kernel launch, channels filled for the first time
  Seconds step = {};       ///< from a rank that has data to the next, the link's own latency included
  double delivered = 1.0;  ///< fraction of the link's delivered rate
};

/// What collective libraries reach over a link type. Fitted to measurements, which the file names.
struct LinkExchange {
  std::array<std::optional<LinkProtocol>, kProtocolNames.size()> protocols = {};
  std::optional<LinkProtocol> in_switch = {};  ///< sums made by the switch; empty: it makes none
};

/// A kind of link, as its standard describes it and as transfers find it. Figures and their sources
/// live in topologies/links/.
struct LinkType {
  std::string id;    ///< file name, as a machine spells it
  std::string name;  ///< in words
  std::string kind;  ///< pcie, nvlink, socket, memory, infiniband, ethernet
  std::string source;
  BytesPerSecond lane_rate;                           ///< one way, one lane, after the line code
  std::vector<int> lanes;                             ///< counts that exist; empty: the link has no lanes
  double delivered = 1.0;                             ///< fraction of the raw rate that large transfers reach
  Seconds latency;                                    ///< one crossing
  bool half_duplex = false;                           ///< both directions share one rate
  std::shared_ptr<const LinkExchange> exchange = {};  ///< null: exchanges pay the latency and reach the rate
};

}  // namespace gpuscale
