#pragma once

/// \file
/// Cards of one kind are not equally fast, and who works in step waits for the slowest.

namespace gpuscale {

/// What a spread may be at most: beyond it a card is broken.
inline constexpr double kMostSpread = 0.2;

/// Mean of the largest of `cards` numbers drawn from the standard normal distribution: 0 of one, 0.5642 of two, 1.0294
/// of four, 1.4236 of eight; about sqrt(2 ln cards). Rounded to a millionth, so that it is the same with any
/// mathematical library. \pre cards >= 1
double expected_largest(int cards);

/// How much longer than the average card the slowest of so many is expected to compute; at least 1.
/// \param spread standard deviation of a card's compute time over its mean; [0, kMostSpread]
double slowest_of(int cards, double spread);

}  // namespace gpuscale
