#pragma once

#include "scenario/map_reader.hpp"
#include "workload/shape.hpp"

namespace gpuscale {

/// The shape of one sample, or of a part of it: `image`, `tokens`, `features` or `frames` with `features`.
/// `what` is the map in words, for its messages.
Shape read_shape(MapReader& map, std::string_view what);

}  // namespace gpuscale
