#pragma once

/// \file
/// Measured times of single kernels beside kernel_time and beside a plain roofline.

#include <vector>

#include "hardware/gpu.hpp"
#include "hardware/kernel.hpp"
#include "study/validate_checks.hpp"

namespace gpuscale {

/// What a row of a rule with `check: kernels` timed.
struct KernelCase {
  Gpu gpu;
  Precision precision = Precision::fp32;
  std::vector<Kernel> kernels;  ///< one after the other
};

/// \throws ScenarioError with what stands against the row
KernelCase kernel_case(const MeasuredRow& row, const Library& library);

Seconds kernel_time(const KernelCase& measured);

/// max(FLOP / peak, bytes once / bandwidth): what one assumes who knows nothing about kernels.
Seconds roofline_time(const KernelCase& measured);

/// The RowCheck of CheckKind::kernels.
void check_kernel(const MeasuredRow& row, const CheckContext& context, RowResult& result);

}  // namespace gpuscale
