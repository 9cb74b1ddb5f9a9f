#pragma once

/// \file
/// The tables of a validation as finished columns.

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/columns.hpp"
#include "study/validate.hpp"

namespace gpuscale {

std::vector<TextColumn> group_columns(std::span<const GroupResult> groups);

/// Groups whose rows were not put together to compare their order only.
std::vector<GroupResult> not_by_order(std::span<const GroupResult> groups);

/// Of the others those with the lowest tau, lowest first, at most `count`.
std::vector<GroupResult> worst_orders(std::span<const GroupResult> groups, std::size_t count);

/// Ours beside theirs.
std::vector<TextColumn> row_columns(std::span<const RowResult> rows);

/// The rows with the largest errors of time, memory or speed-up / GPUs: largest first, at most `count`.
std::vector<RowResult> worst_times(std::span<const RowResult> rows, std::size_t count);
std::vector<RowResult> worst_memories(std::span<const RowResult> rows, std::size_t count);
std::vector<RowResult> worst_efficiencies(std::span<const RowResult> rows, std::size_t count);

/// Reasons why rows are not used, with their number: most frequent first.
struct Unused {
  std::string source;
  std::string reason;
  std::size_t rows = 0;
};
std::vector<Unused> unused_of(std::span<const RowResult> rows);

}  // namespace gpuscale
