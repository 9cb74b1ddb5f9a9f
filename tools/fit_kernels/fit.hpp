#pragma once

/// \file
/// Family constants that make the model nearest to what was measured.

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "constants.hpp"
#include "samples.hpp"

namespace gpuscale::fit {

using Samples = std::vector<const Sample*>;
using Steps = std::vector<const Step*>;

/// ours / measured of a kernel on a card whose family has these constants.
double ratio(const Sample& sample, const Family& family);

/// The same of the step of a network.
double ratio(const Step& step, const Family& family);

/// The mean of |log ratio| and |ratio - 1|, beyond a factor of two counted at a third: single odd rows do not rule.
double distance(const Samples& samples, const Family& family);

/// The mean over cards, networks and precisions of |median log ratio|, damped in the same way.
double distance(const Steps& steps, const Family& family);

/// A family from `start` that makes `distance` small by changing one constant at a time by smaller and smaller
/// factors. A constant that is 0 stays so.
Family descend(const Family& start, std::span<const Constant* const> free,
               const std::function<double(const Family&)>& distance);

/// The constants named by `paths`.
std::vector<const Constant*> named(std::span<const std::string_view> paths);

/// The samples that decide a stage for one family.
Samples of_stage(const std::vector<Sample>& samples, const Stage& stage, std::string_view family);

/// All stages one after the other, each on its own samples out of `samples`; constants of a stage without
/// samples stay. `hold` are paths that do not change.
Family fit_stages(const Family& start, const std::vector<Sample>& samples, std::span<const std::string_view> hold);

}  // namespace gpuscale::fit
