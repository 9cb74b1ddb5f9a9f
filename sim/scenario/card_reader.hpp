#pragma once

/// \file
/// `cluster.gpu`: one card for every slot, or which card sits where. topologies/README.md has the grammar.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenario/link_reader.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// The cards of a cluster while it is read. Equal values are one kind. Problems are noted; nothing throws.
class CardReader {
 public:
  CardReader(const YamlValue& value, Reading& reading) : value_(&value), reading_(&reading) {}

  /// Reads every kind of card. \pre the machine was read
  void read_kinds(ClusterSpec& cluster);
  /// Resolves the bus connector of every kind.
  void read_buses(ClusterSpec& cluster, LinkTypes& types);
  /// Puts the cards into slots. \pre machine, nodes, GPUs and placement were read
  void place_cards(ClusterSpec& cluster);

 private:
  using Kinds = std::vector<std::size_t>;

  void note(const Place& place, std::string text) { reading_->note(place, std::move(text)); }
  void add_kind(const YamlValue& card);
  [[nodiscard]] Kinds kinds_of(const YamlValue& list) const;
  /// A box's kinds by slot: one card for all, or a list of one for each.
  std::optional<Kinds> box_of(const YamlValue& value, const MachineSpec& machine);
  void place_list(ClusterSpec& cluster);
  void place_map(ClusterSpec& cluster);
  /// The cards of every node or slot, each named once; none if something is wrong.
  std::vector<Kinds> read_places(const std::vector<std::string>& places, bool by_node, const MachineSpec& machine);

  const YamlValue* value_;
  Reading* reading_;
  std::vector<const YamlValue*> cards_ = {};         ///< by kind, where it was first written
  std::map<std::string, std::size_t> numbers_ = {};  ///< of kinds, by what was written
};

}  // namespace gpuscale
