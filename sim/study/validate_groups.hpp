#pragma once

#include <span>
#include <vector>

#include "study/validate.hpp"

namespace gpuscale {

/// The errors of rows by source, by family and by class, each in the order of first appearance. A row
/// without a family or class is in no group of that kind.
std::vector<GroupResult> groups_of(std::span<const RowResult> rows);

/// The middle value, or the mean of the two; nothing of nothing.
std::optional<double> median(std::vector<double> values);

}  // namespace gpuscale
