#pragma once

#include "scenario/map_reader.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// `cooling`, `power_limit` and `background` of a cluster whose card and machine are read: clocks that cards keep up,
/// and what others take of the links.
void read_surroundings(MapReader& reader, ClusterSpec& cluster);

}  // namespace gpuscale
