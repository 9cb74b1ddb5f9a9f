#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/hops.hpp"
#include "collective/pattern.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// A pattern of a group, and what it loads under each protocol once that has been asked.
struct GroupPattern {
  Pattern pattern = {};
  mutable std::array<std::optional<Hops>, kProtocolNames.size()> hops = {};
};

/// An algorithm and protocol for exchanges of one kind and size on one group.
struct ExchangeChoice {
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  Seconds time = {};  ///< of the exchange alone

  bool operator==(const ExchangeChoice&) const = default;
};

/// Ranks that exchange with each other over a topology by one transport. Remembers how they are joined and
/// which algorithm was fastest, so that many exchanges of one group search once. The topology must
/// outlive it.
class RankGroup {
 public:
  RankGroup(const Topology& topology, std::vector<Participant> ranks, Transport transport, PlanTimer plan_timer)
      : topology_(&topology), ranks_(std::move(ranks)), transport_(std::move(transport)), timer_(plan_timer) {}

  [[nodiscard]] const Topology& topology() const { return *topology_; }
  [[nodiscard]] std::span<const Participant> ranks() const { return ranks_; }
  [[nodiscard]] const Transport& transport() const { return transport_; }
  /// How long a plan takes on the group's topology: what choices between algorithms go by.
  [[nodiscard]] PlanTimer timer() const { return timer_; }
  [[nodiscard]] Seconds plan_time(const Plan& plan) const { return timer_(plan, *topology_); }
  [[nodiscard]] std::size_t size() const { return ranks_.size(); }
  /// The number of ranks, for formulas.
  [[nodiscard]] double count() const { return static_cast<double>(ranks_.size()); }

  /// The rings over all ranks, each with its share of the data.
  [[nodiscard]] const GroupPattern& ring() const;
  /// Every rank to all others.
  [[nodiscard]] const GroupPattern& pairs() const;
  /// What a pattern loads under a protocol.
  [[nodiscard]] const Hops& hops(const GroupPattern& pattern, Protocol protocol) const;
  /// Ranks by the box they are in, both in rank order.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& nodes() const;
  /// The compute lanes, which exchanges slow down; of ranks that have one.
  [[nodiscard]] std::vector<LaneId> lanes() const;

  /// Choices by what was asked; see choose_exchange().
  using ChoiceKey = std::array<int, 4>;
  [[nodiscard]] std::map<ChoiceKey, ExchangeChoice>& choices() const { return choices_; }

 private:
  const Topology* topology_;
  std::vector<Participant> ranks_;
  Transport transport_;
  PlanTimer timer_;
  mutable std::optional<GroupPattern> ring_;
  mutable std::optional<GroupPattern> pairs_;
  mutable std::vector<std::vector<std::size_t>> nodes_;
  mutable std::map<ChoiceKey, ExchangeChoice> choices_;
};

}  // namespace gpuscale
