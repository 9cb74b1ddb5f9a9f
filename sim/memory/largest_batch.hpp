#pragma once

#include <functional>

#include "units/quantity.hpp"

namespace gpuscale {

/// The largest whole number of samples from 1 to `most` whose memory fits; 0 if one sample does not. Asks for the size
/// of some 3 to 10 numbers: between one that fits and one that does not, where a straight line meets the capacity, and
/// the middle when the line no longer helps.
/// \param size of a whole number of samples; must not fall \param first where to look first
double largest_that_fits(const std::function<Bytes(double)>& size, Bytes capacity, double first, double most);

}  // namespace gpuscale
