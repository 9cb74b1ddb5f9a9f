#pragma once

/// \file
/// A measured exchange held against the same exchange alone on the machine that the row names.

#include <string_view>

#include "collective/exchange.hpp"
#include "study/validate_checks.hpp"

namespace gpuscale {

/// Sizes up to here are the floor, sizes from there on are large; between them lies the middle.
inline constexpr Bytes kFloorSize{65536.0};
inline constexpr Bytes kLargeSize{33554432.0};

/// collective/floor, collective/middle or collective/large.
std::string_view size_class_name(Bytes size);

/// What bus bandwidth multiplies bytes over time with, as nccl-tests define it.
double bus_factor(Collective what, double ranks);

void check_collectives(const MeasuredRow& row, const CheckContext& context, RowResult& result);

}  // namespace gpuscale
