#pragma once

/// \file
/// Strategies by name, for `compare --strategies data,model+int8`: what a buyer chooses between.

#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"

namespace gpuscale {

/// The settings a name stands for on a job of `gpus` GPUs. A name is `data`, `model` or `independent`,
/// then at most one `+codec` (none, fp16, int8, ...) and, with data, one `+algorithm` (ring,
/// parameter_server_cpu, ...). With data also `+tensor8`, `+pipeline4`, `+context2`, `+expert8` and `+zero3`, and
/// `+node` for sharing out within nodes: degrees, the first of which needs no `data` before it; copies take the GPUs
/// that are left, and degrees beside a named one are 1 (zero: 0); a name without any leaves them as the scenario has
/// them. What a name does not say about codec is none; an algorithm it does not name stays the scenario's. Messages
/// about the settings name the strategy. \throws std::invalid_argument with a text for the user.
std::vector<Setting> strategy_settings(std::string_view name, int gpus);

/// What is compared when no strategy is named.
inline constexpr std::string_view kUsualStrategies[] = {"data", "data+int8", "model", "model+int8"};

}  // namespace gpuscale
