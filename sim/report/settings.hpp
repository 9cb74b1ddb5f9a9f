#pragma once

/// \file
/// What was set or swept over a list of reports.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace gpuscale {

/// Every key that was set in any report, in the order of first appearance.
std::vector<std::string> setting_keys(std::span<const Report> reports);

/// The value of a key in a report, or "".
std::string setting_of(const Report& report, std::string_view key);

/// The values a key takes over the reports, each once, in the order of first appearance.
std::vector<std::string> setting_values(std::span<const Report> reports, std::string_view key);

/// Short names for keys, each as few of the last parts of its path as tell it from the others:
/// "strategy.exchange.codec" becomes "codec".
std::vector<std::string> short_names(std::span<const std::string> keys);

}  // namespace gpuscale
