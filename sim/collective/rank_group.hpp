#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/hops.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// Ranks that exchange with each other over a topology by one transport. Remembers how they are joined,
/// so that many exchanges of one group search for rings once. The topology must outlive it.
class RankGroup {
 public:
  RankGroup(const Topology& topology, std::vector<Participant> ranks, Transport transport)
      : topology_(&topology), ranks_(std::move(ranks)), transport_(transport) {}

  [[nodiscard]] const Topology& topology() const { return *topology_; }
  [[nodiscard]] std::span<const Participant> ranks() const { return ranks_; }
  [[nodiscard]] const Transport& transport() const { return transport_; }
  [[nodiscard]] std::size_t size() const { return ranks_.size(); }
  /// The number of ranks, for formulas.
  [[nodiscard]] double count() const { return static_cast<double>(ranks_.size()); }

  /// What a ring over all ranks loads for each byte that a rank sends.
  [[nodiscard]] const Hops& ring() const;
  /// What it loads when every rank sends to all others at once.
  [[nodiscard]] const Hops& pairs() const;
  /// The compute lanes, which exchanges slow down.
  [[nodiscard]] std::vector<LaneId> lanes() const;

 private:
  const Topology* topology_;
  std::vector<Participant> ranks_;
  Transport transport_;
  mutable std::optional<Hops> ring_;
  mutable std::optional<Hops> pairs_;
};

}  // namespace gpuscale
