#pragma once

#include <vector>

#include "scenario/map_reader.hpp"
#include "workload/measured_time.hpp"

namespace gpuscale {

/// Reads `measured` of a layer: one point as a map, or a list of points. Nothing if the key is not there.
std::vector<MeasuredTime> read_measured(MapReader& layer);

}  // namespace gpuscale
