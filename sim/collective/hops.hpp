#pragma once

#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "collective/exchange.hpp"
#include "plan/plan.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

/// What a protocol costs on one way. A way over several types of link has the slowest's costs; links of
/// types that say nothing add their latency.
struct HopCost {
  Seconds start = {};  ///< once an exchange
  Seconds step = {};   ///< from having data to the other end having it, the transport's message included
};

HopCost hop_cost(const Topology& topology, const Route& route, const Transport& transport, Protocol protocol);

/// Copies that move at one common pace: what they load together, their ceiling and their costs.
struct Hops {
  std::vector<ChannelLoad> loads = {};  ///< per byte that each copy moves, channels in ascending order
  BytesPerSecond cap{std::numeric_limits<double>::infinity()};
  Seconds latency = {};                                          ///< of the slowest copy
  Seconds start = {};                                            ///< of the slowest copy
  BytesPerSecond held{std::numeric_limits<double>::infinity()};  ///< what a protocol leaves of the links it holds most
  double delivered = 1.0;                                        ///< what sums in a switch leave of the pace
  bool staged = false;                                           ///< some copy goes through host memory
  std::vector<Seconds> steps = {};                               ///< of each copy, in the order of adding

  /// Puts loads in order, those of one channel together.
  void merge();
  /// How fast it all moves alone: the tightest channel or ceiling, before the protocol takes its part.
  [[nodiscard]] BytesPerSecond pace(const Topology& topology) const;
  /// The ceiling in force: that of the copies, or what the protocol leaves of the pace.
  [[nodiscard]] BytesPerSecond ceiling(const Topology& topology) const;
};

/// Puts copies together; take() hands out the sum.
class HopCollector {
 public:
  HopCollector(const Topology& topology, const Transport& transport, Protocol protocol)
      : topology_(&topology), transport_(&transport), protocol_(protocol) {}

  /// A copy of `weight` bytes for each byte of the whole, by way of `relay` if that is valid.
  void add(DeviceId from, DeviceId to, double weight = 1.0, DeviceId relay = {});
  Hops take();

 private:
  HopCost add_way(DeviceId from, DeviceId to, double weight);
  /// Notes what the protocol delivers of the links of a way. \returns what it does of PCIe
  double note_parts(const Route& route);
  /// Works out what the protocol leaves of all loads.
  void hold();

  const Topology* topology_;
  const Transport* transport_;
  Protocol protocol_;
  Hops hops_;
  std::map<DeviceId, double> staged_ = {};  ///< what each sender puts through host memory
  double staged_part_ = 1.0;                ///< what the protocol delivers of PCIe there
  /// Channels of which the protocol delivers a part only, and that part.
  std::vector<std::pair<ChannelId, double>> parts_ = {};
};

/// The channels that can hold several sets of copies, whichever mixture of the sets moves alone: of channels that all
/// sets load in the same proportion to their rate one is as good as all; of a single set, the tightest. Ascending.
std::vector<ChannelId> binding_channels(const Topology& topology, std::span<const Hops* const> sets);

/// With the loads of these channels only. \pre channels ascend
Hops only(Hops hops, std::span<const ChannelId> channels);

/// One copy.
Hops hop(const Topology& topology, DeviceId from, DeviceId to, const Transport& transport,
         Protocol protocol = Protocol::simple, DeviceId relay = {});

}  // namespace gpuscale
