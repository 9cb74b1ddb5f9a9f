#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "study/sweep.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale {

/// A problem of one point of a sweep.
struct PointProblem {
  std::size_t point = 0;
  Problem problem;
};

/// Each problem once. One that not all points have gets the settings of the first that has it:
/// "... (at cluster.gpus=3, and 4 more points)".
std::vector<Problem> merge_problems(std::span<const PointProblem> problems, std::span<const Point> points);

}  // namespace gpuscale
