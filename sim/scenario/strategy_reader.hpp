#pragma once

#include <optional>
#include <string_view>

#include "parallel/job.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"

namespace gpuscale {

/// Reads `strategy:`: how the job is split and how gradients travel.
ParallelConfig read_strategy(const YamlValue& value, Reading& reading);

/// A codec by its name or by the spelling of the papers (1-bit, top-k).
std::optional<CodecKind> read_codec(const YamlValue& value, Reading& reading);

}  // namespace gpuscale
