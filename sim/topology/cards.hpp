#pragma once

/// \file
/// Which card sits where in a cluster whose GPUs may be unlike. Cards are numbered by kind, from 0.

#include <cstddef>
#include <string>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// How many kinds of cards a cluster has.
inline std::size_t card_kinds(const ClusterSpec& spec) { return 1 + spec.other_cards.size(); }

/// The card of a kind. \pre there is such a kind
inline const Gpu& card(const ClusterSpec& spec, std::size_t kind) {
  return kind == 0 ? spec.gpu : spec.other_cards[kind - 1].gpu;
}

/// The memory of the card that has least. Where all must hold the same, it decides.
Bytes least_memory(const ClusterSpec& spec);

/// The kind of the card in a GPU slot of a box.
std::size_t card_at(const ClusterSpec& spec, std::size_t box, std::size_t slot);

/// The kind of each rank's card.
std::vector<std::size_t> cards_of_ranks(const Cluster& cluster);

/// Calls `change` with every card of a cluster.
template <class Change>
void for_each_card(ClusterSpec& spec, const Change& change) {
  change(spec.gpu);
  for (CardKind& other : spec.other_cards) change(other.gpu);
}

/// The cluster as if it had no card but one of this kind, in the first slot.
ClusterSpec one_card(ClusterSpec spec, std::size_t kind);

/// Takes out the kinds that no rank has and numbers the others in order of the ranks. Of a single kind that is left,
/// the links to its slots become no faster than its bus.
/// \pre the GPUs fit into the slots
void keep_cards_in_use(ClusterSpec& spec);

/// "GeForce GTX 1080 Ti", or "1x GeForce RTX 3090 + 1x GeForce GTX 1080": the cards of a job by name or by id.
std::string cards_in_words(const ClusterSpec& spec, std::string Gpu::*what = &Gpu::name);

}  // namespace gpuscale
