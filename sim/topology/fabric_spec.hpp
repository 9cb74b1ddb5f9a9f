#pragma once

/// \file
/// What joins boxes, as a user writes it: a generator by kind with its numbers, or an explicit graph.
/// Files: topologies/fabrics.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/link_type.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// A two-way connection of two devices by name.
struct ConnectionSpec {
  std::string from = {};
  std::string to = {};
  LinkType type = {};
  int lanes = 1;
  Place place = {};
};

enum class FabricKind { single_switch, leaf_spine, fat_tree, rail_optimised, torus, dragonfly, graph };

inline constexpr std::array<std::string_view, 7> kFabricKindNames = {
    "switch", "leaf_spine", "fat_tree", "rail_optimised", "torus", "dragonfly", "graph"};

constexpr std::string_view name(FabricKind kind) { return kFabricKindNames[static_cast<std::size_t>(kind)]; }

/// How transfers share ways of equal cost. Without collisions each way is taken by where the transfer
/// goes, so that regular patterns spread evenly; with collisions by a seeded hash of its two ends, as
/// switches do that hash packet headers.
struct EqualCostSpec {
  bool collisions = false;
  std::uint64_t seed = 1;

  bool operator==(const EqualCostSpec&) const = default;
};

/// A link type and how many of its lanes.
struct LinkOfFabric {
  LinkType type = {};
  int lanes = 1;
};

/// What joins boxes. Which numbers a kind has, and what they default to, is in topologies/README.md.
struct FabricSpec {
  std::string id = {};
  std::string name = {};
  std::string source = {};
  FabricKind kind = FabricKind::single_switch;
  LinkType link = {};  ///< of each network adapter to its switch; in a torus of each position to the next
  int lanes = 1;
  Seconds switch_latency = {};                   ///< one crossing of one switch; in a torus of one position
  std::optional<LinkOfFabric> uplink = {};       ///< between switches; as `link` if not given
  std::optional<LinkOfFabric> global_link = {};  ///< dragonfly: between groups; as the uplink if not given
  double oversubscription = 1.0;                 ///< rate into a leaf from below over its rate upwards
  int leaf_ports = 0;                            ///< leaf_spine: adapters below a leaf
  int leaf_boxes = 0;                            ///< rail_optimised: boxes below a leaf of each rail
  int spines = 0;                                ///< 0: one for each uplink of a leaf
  int ports = 0;                                 ///< fat_tree: ports of a switch; 0: the fewest that fit
  std::vector<int> size = {};                    ///< torus: positions along each dimension
  std::vector<int> block = {};                   ///< torus: positions that the adapters of a box fill
  bool wrap = true;                              ///< torus: the last position is linked to the first
  int adapters = 0;                              ///< dragonfly: adapters at a router
  int routers = 0;                               ///< dragonfly: routers of a group; 0: twice `adapters`
  int global_links = 0;                          ///< dragonfly: of a router; 0: as many as `adapters`
  std::vector<std::string> switches = {};        ///< graph: names of its switches
  std::vector<ConnectionSpec> connections = {};  ///< graph: between switches, and node0.nic0 and a switch
  EqualCostSpec equal_cost = {};
  Place place = {};
};

}  // namespace gpuscale
