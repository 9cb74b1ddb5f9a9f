#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuscale {

/// Devices that one machine may have, ranges written out.
inline constexpr std::size_t kMostDevices = 10'000;

/// The names a key stands for: "gpu[0-3]" is gpu0 to gpu3, a name without a range itself. Several ranges
/// ("gpu[0-1]_[0-3]") multiply. Nothing if the brackets are not of this form or name too many.
std::optional<std::vector<std::string>> device_names(std::string_view text);

}  // namespace gpuscale
