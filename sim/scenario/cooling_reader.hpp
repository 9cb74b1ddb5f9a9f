#pragma once

#include "scenario/map_reader.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// `cooling`, `power_limit`, `spread` and `background` of a cluster whose card and machine are read: clocks that cards
/// keep up, how unlike cards of one kind are, and what others take of the links.
void read_surroundings(MapReader& reader, ClusterSpec& cluster);

}  // namespace gpuscale
