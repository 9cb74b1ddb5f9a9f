#pragma once

/// \file
/// One collective over message sizes, alone on a cluster: the values behind `gpuscale exchange`.

#include <span>
#include <string>
#include <vector>

#include "collective/exchange.hpp"
#include "scenario/hardware.hpp"
#include "topology/cluster.hpp"

namespace gpuscale {

/// What is exchanged. Ranks are numbers among those of the cluster; empty: all.
struct ExchangeQuery {
  Collective what = Collective::all_reduce;
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::automatic;
  CodecKind codec = CodecKind::none;
  std::vector<Bytes> sizes = {};
  std::vector<std::size_t> ranks = {};
};

/// One size. Bandwidths as nccl-tests define them: bytes over time, and that times what makes it the rate
/// of the wire, whatever the number of ranks.
struct ExchangeRow {
  Bytes size;
  double count = 0;  ///< numbers of four bytes
  Seconds time;
  BytesPerSecond algorithm_bandwidth;
  BytesPerSecond bus_bandwidth;
  std::string algorithm;
  std::string protocol;  ///< empty if the transport has none; "none" of an algorithm that speaks none
};

struct ExchangeTable {
  Collective what = Collective::all_reduce;
  std::string machine;
  std::string gpu;
  bool unlike = false;    ///< `gpu` says how many of each kind the cluster has
  std::string transport;  ///< whose it is
  std::string codec;
  int nodes = 1;
  std::size_t ranks = 0;
  std::vector<ExchangeRow> rows;
  std::vector<std::string> provenance;

  /// Over all rows, as nccl-tests print it.
  [[nodiscard]] BytesPerSecond average_bus_bandwidth() const;
};

/// Simulates each size alone. \throws std::invalid_argument if the ranks cannot do it by that algorithm, with a text
/// for the user
ExchangeTable exchange_table(const ExchangeQuery& query, const Hardware& hardware, const Cluster& cluster);

}  // namespace gpuscale
