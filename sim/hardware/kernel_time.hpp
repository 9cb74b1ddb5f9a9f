#pragma once

/// \file
/// How long a kernel takes on a GPU from its shape alone. A kernel costs the longer of its arithmetic
/// at the attainable rate and its memory traffic at the attainable bandwidth, plus the family's fixed
/// cost of a launch on the device. Host time is not in here: it belongs to the framework.

#include "hardware/gpu.hpp"
#include "hardware/kernel.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

Seconds gemm_time(const Gpu& gpu, const GemmKernel& kernel, Precision precision);
Seconds convolution_time(const Gpu& gpu, const ConvolutionKernel& kernel, Precision precision);
Seconds recurrent_time(const Gpu& gpu, const RecurrentKernel& kernel, Precision precision);
Seconds attention_time(const Gpu& gpu, const AttentionKernel& kernel, Precision precision);
Seconds stream_time(const Gpu& gpu, const StreamKernel& kernel);

/// The time of any kernel: one of the functions above.
Seconds kernel_time(const Gpu& gpu, const Kernel& kernel, Precision precision);

}  // namespace gpuscale
