#pragma once

/// \file
/// Ways between boxes: over switches by the fewest hops, with every next hop of equal cost known, or
/// over a torus dimension by dimension.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "topology/box_routes.hpp"
#include "topology/fabric_spec.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

struct Device;
struct Link;

/// Adapters at the positions of a torus, and by which links each reaches its neighbours.
struct TorusGrid {
  std::vector<int> size = {};          ///< positions along each dimension, the last running fastest
  bool wrap = true;                    ///< the last position of a dimension is linked to the first
  std::vector<DeviceId> adapter = {};  ///< by position
};

/// Answers from which link to which a transfer goes from one adapter to another. An adapter outside a
/// torus forwards nothing. Distances to a switch are searched when asked for and kept: from one thread
/// at a time.
class FabricRoutes {
 public:
  FabricRoutes() = default;
  FabricRoutes(std::span<const Device> devices, std::span<const Link> links, TorusGrid torus, EqualCostSpec equal_cost);

  /// Devices in boxes with a link out of their box, by id.
  [[nodiscard]] const std::vector<DeviceId>& adapters() const { return adapters_; }
  [[nodiscard]] const TorusGrid& torus() const { return torus_; }

  /// Appends the links from one adapter to another; false (and nothing appended) if there is no way.
  bool append(DeviceId from, DeviceId to, std::vector<LinkId>& path);

 private:
  /// A link as this graph sees it; vertices are switches, then adapters.
  struct Hop {
    LinkId link;
    std::uint32_t to = 0;
    std::int64_t latency = 0;
  };
  using Distances = std::vector<RouteCost>;  ///< by switch, to one target
  struct Ends;

  [[nodiscard]] std::span<const Hop> hops_from(std::uint32_t vertex) const;
  [[nodiscard]] bool is_switch(std::uint32_t vertex) const { return vertex < switches_; }
  void number_vertices(std::span<const Device> devices, const std::vector<bool>& takes_part);
  [[nodiscard]] std::vector<std::uint32_t> adapters_below(std::uint32_t vertex) const;
  [[nodiscard]] bool leaves_are_alike() const;
  void number_slots();
  void find_torus_links();
  const Distances& distances_to(std::uint32_t target);
  [[nodiscard]] std::uint32_t target_of(std::uint32_t adapter) const;
  [[nodiscard]] std::size_t choice(const Ends& ends, std::size_t equals, std::uint32_t hop,
                                   std::int64_t hops_left) const;
  bool append_over_switches(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path);
  bool append_over_torus(DeviceId from, DeviceId to, std::vector<LinkId>& path) const;

  std::vector<DeviceId> adapters_;
  std::vector<std::uint32_t> vertex_;  ///< by device id; kNone elsewhere
  std::uint32_t switches_ = 0;         ///< vertices below this number are switches
  std::uint32_t vertices_ = 0;
  std::vector<std::uint32_t> first_hop_;  ///< by vertex, into hops_; one more at the end
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> ordinal_;  ///< by vertex: which adapter of its box
  std::vector<std::uint32_t> slot_;     ///< by vertex: which adapter of its switch, of all boxes' first ones first
  std::vector<std::uint32_t> leaf_;     ///< by vertex: number of the adapter's switch
  std::map<std::uint32_t, Distances> distances_;
  TorusGrid torus_;
  std::vector<std::uint32_t> position_;  ///< by vertex
  std::vector<LinkId> torus_links_;      ///< by position, dimension and direction
  EqualCostSpec equal_cost_;
};

}  // namespace gpuscale
