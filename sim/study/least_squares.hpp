#pragma once

/// \file
/// Small least-squares problems whose model is a simulation.

#include <cstddef>
#include <vector>

namespace gpuscale {

/// Residuals of all points at some parameters, and how they change with each.
struct Linearised {
  std::vector<double> residuals;            ///< by point
  std::vector<std::vector<double>> slopes;  ///< by parameter, then by point
};

/// The step in the parameters (at `now`) that makes the squares of the linearised residuals least, with a weak pull
/// towards zero that decides what the points do not. \param left_out a point that does not count; none if past the end
std::vector<double> least_squares_step(const Linearised& at, const std::vector<double>& now, std::size_t left_out);

/// x of a x = b by Gaussian elimination with pivots. \pre `a` is square and regular
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b);

}  // namespace gpuscale
