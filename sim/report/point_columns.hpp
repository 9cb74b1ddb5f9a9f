#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "report/columns.hpp"
#include "report/report.hpp"

namespace gpuscale {

/// A part of the step's time and what it is called.
struct SplitPart {
  std::string_view name;     ///< "exposed exchange"
  std::string_view heading;  ///< "exchange"
  Seconds StepSplit::*time;
};

inline constexpr std::array<SplitPart, 6> kSplitParts = {
    {{"compute", "compute", &StepSplit::compute},
     {"host", "host", &StepSplit::host},
     {"exposed exchange", "exchange", &StepSplit::exchange_exposed},
     {"pipeline bubble", "bubble", &StepSplit::bubble},
     {"input wait", "input", &StepSplit::input},
     {"jitter", "jitter", &StepSplit::jitter}}};

/// Parts below this fraction of the step are remainders of rounding and are not shown.
inline constexpr double kVisiblePart = 1e-6;

/// A report without samples is of one transfer: it has a time and nothing that scales.
inline bool is_transfer(const Report& report) { return report.global_batch <= 0; }

/// The columns of a table of points for people: what varies, then time, throughput, scaling, where the
/// step goes in percent, whether it fits and what limits it. Columns with nothing to say are left out. If a
/// point was refused, a last column says why, or lines below; in place of its figures is "-".
std::vector<TextColumn> point_columns(std::span<const Report> reports);

/// One row a kind of GPU: how many, samples, computing, memory.
std::vector<TextColumn> card_columns(const Report& report);

/// One row a layer: shape, parameters, memory, times.
std::vector<TextColumn> layer_columns(const Report& report);

}  // namespace gpuscale
