#pragma once

/// \file
/// Settings and axes as a command line writes them: `cluster.gpus=4`, `cluster.gpus=1,2,4`.

#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"

namespace gpuscale {

/// Reads `path=value`; the value is YAML text and may be empty or contain anything.
/// \throws std::invalid_argument with a text for the user.
Setting read_setting(std::string_view text);

/// Reads `path=value,value,...`. Commas inside brackets, braces and quotation marks do not separate, so
/// `strategy.exchange={bucket: 1 MiB, codec: int8},{codec: none}` has two values; a list in brackets
/// around all values may be written as in YAML: `cluster.gpus=[1, 2, 4]`.
/// \throws std::invalid_argument with a text for the user.
SweepAxis read_axis(std::string_view text);

/// What a command line sets and sweeps, checked against itself: a key is swept once, and not both swept and
/// set, neither as a whole nor through a key above it, which would undo it at every point.
/// \throws std::invalid_argument with a text for the user.
void check_axes(const std::vector<SweepAxis>& swept, const std::vector<Setting>& set);

/// The axes of a file without those whose key is set. `removed` gets the settings that took one away.
/// \throws std::invalid_argument, with a text for the user, if an axis would undo what is set below it.
std::vector<SweepAxis> without_set_axes(std::vector<SweepAxis> file, const std::vector<Setting>& set,
                                        std::vector<Setting>& removed);

/// The axes of a file with those of the command line: one with a path of the file replaces it in its
/// place, the others follow.
std::vector<SweepAxis> merge_axes(std::vector<SweepAxis> file, const std::vector<SweepAxis>& command_line);

}  // namespace gpuscale
