#include "constants.hpp"

#include <algorithm>
#include <array>

namespace gpuscale::fit {

namespace {

using Path = std::string_view;

// Limits keep a constant within its meaning where few rows decide it.
constexpr Constant kConstants[] = {
    {"launch", nullptr, [](Family& f) -> Seconds& { return f.launch; }, 1e-6, 12e-6},
    {"gemm.vector.efficiency", [](Family& f) -> double& { return f.gemm.vector.efficiency; }, nullptr, 0.3, 1.2},
    {"gemm.vector.depth_half", [](Family& f) -> double& { return f.gemm.vector.depth_half; }, nullptr, 1.0, 200.0},
    {"gemm.vector.operand_rate", [](Family& f) -> double& { return f.gemm.vector.operand_rate; }, nullptr, 4.0, 2000.0},
    {"gemm.vector.picojoule", [](Family& f) -> double& { return f.gemm.vector.picojoule; }, nullptr, 0.0, 40.0},
    {"gemm.vector.transposed", [](Family& f) -> double& { return f.gemm.vector.transposed; }, nullptr, 1.0, 10.0},
    {"gemm.matrix.efficiency", [](Family& f) -> double& { return f.gemm.matrix.efficiency; }, nullptr, 0.3, 1.0},
    {"gemm.matrix.depth_half", [](Family& f) -> double& { return f.gemm.matrix.depth_half; }, nullptr, 1.0, 300.0},
    {"gemm.matrix.operand_rate", [](Family& f) -> double& { return f.gemm.matrix.operand_rate; }, nullptr, 4.0, 2000.0},
    {"gemm.matrix.picojoule", [](Family& f) -> double& { return f.gemm.matrix.picojoule; }, nullptr, 0.0, 5.0},
    {"gemm.matrix.transposed", [](Family& f) -> double& { return f.gemm.matrix.transposed; }, nullptr, 1.0, 10.0},
    {"gemm.matrix.eight_bit", [](Family& f) -> double& { return f.gemm.matrix.eight_bit; }, nullptr, 0.3, 1.0},
    {"gemm.memory", [](Family& f) -> double& { return f.gemm.memory; }, nullptr, 0.3, 0.95},
    {"convolution.vector.rate.forward", [](Family& f) -> double& { return f.convolution.vector.rate.forward; }, nullptr,
     0.2, 1.2},
    {"convolution.vector.rate.backward_data",
     [](Family& f) -> double& { return f.convolution.vector.rate.backward_data; }, nullptr, 0.2, 1.2},
    {"convolution.vector.rate.backward_weights",
     [](Family& f) -> double& { return f.convolution.vector.rate.backward_weights; }, nullptr, 0.2, 1.2},
    {"convolution.vector.depth_half", [](Family& f) -> double& { return f.convolution.vector.depth_half; }, nullptr,
     1.0, 300.0},
    {"convolution.vector.operand_rate", [](Family& f) -> double& { return f.convolution.vector.operand_rate; }, nullptr,
     4.0, 2000.0},
    {"convolution.matrix.rate.forward", [](Family& f) -> double& { return f.convolution.matrix.rate.forward; }, nullptr,
     0.2, 1.2},
    {"convolution.matrix.rate.backward_data",
     [](Family& f) -> double& { return f.convolution.matrix.rate.backward_data; }, nullptr, 0.2, 1.2},
    {"convolution.matrix.rate.backward_weights",
     [](Family& f) -> double& { return f.convolution.matrix.rate.backward_weights; }, nullptr, 0.2, 1.2},
    {"convolution.matrix.depth_half", [](Family& f) -> double& { return f.convolution.matrix.depth_half; }, nullptr,
     1.0, 300.0},
    {"convolution.matrix.operand_rate", [](Family& f) -> double& { return f.convolution.matrix.operand_rate; }, nullptr,
     4.0, 2000.0},
    {"convolution.vector.weights_split", [](Family& f) -> double& { return f.convolution.vector.weights_split; },
     nullptr, 1.0, 64.0},
    {"convolution.matrix.weights_split", [](Family& f) -> double& { return f.convolution.matrix.weights_split; },
     nullptr, 1.0, 64.0},
    {"convolution.winograd.forward", [](Family& f) -> double& { return f.convolution.winograd.forward; }, nullptr, 0.05,
     1.2},
    {"convolution.winograd.backward_data", [](Family& f) -> double& { return f.convolution.winograd.backward_data; },
     nullptr, 0.05, 1.2},
    {"convolution.unfused_winograd.forward",
     [](Family& f) -> double& { return f.convolution.unfused_winograd.forward; }, nullptr, 0.05, 1.2},
    {"convolution.unfused_winograd.backward_data",
     [](Family& f) -> double& { return f.convolution.unfused_winograd.backward_data; }, nullptr, 0.05, 1.2},
    {"convolution.unfused_winograd.backward_weights",
     [](Family& f) -> double& { return f.convolution.unfused_winograd.backward_weights; }, nullptr, 0.05, 1.2},
    {"convolution.fft.forward", [](Family& f) -> double& { return f.convolution.fft.forward; }, nullptr, 0.05, 1.2},
    {"convolution.fft.backward_data", [](Family& f) -> double& { return f.convolution.fft.backward_data; }, nullptr,
     0.05, 1.2},
    {"convolution.fft.backward_weights", [](Family& f) -> double& { return f.convolution.fft.backward_weights; },
     nullptr, 0.05, 1.2},
    {"convolution.strided_data", [](Family& f) -> double& { return f.convolution.strided_data; }, nullptr, 0.1, 1.0},
    {"convolution.narrow_input", [](Family& f) -> double& { return f.convolution.narrow_input; }, nullptr, 0.05, 1.0},
    {"convolution.direct", [](Family& f) -> double& { return f.convolution.direct; }, nullptr, 0.01, 0.5},
    {"convolution.memory", [](Family& f) -> double& { return f.convolution.memory; }, nullptr, 0.3, 0.95},
    {"convolution.vector_16bit.rate", [](Family& f) -> double& { return f.convolution.vector_16bit.rate; }, nullptr,
     0.5, 2.0},
    {"convolution.vector_16bit.strided_data",
     [](Family& f) -> double& { return f.convolution.vector_16bit.strided_data; }, nullptr, 0.02, 1.0},
    {"recurrent.step", nullptr, [](Family& f) -> Seconds& { return f.recurrent.step; }, 1e-6, 100e-6},
    {"recurrent.memory", [](Family& f) -> double& { return f.recurrent.memory; }, nullptr, 0.2, 0.95},
    {"recurrent.forward", [](Family& f) -> double& { return f.recurrent.forward; }, nullptr, 0.1, 1.2},
    {"recurrent.backward_data", [](Family& f) -> double& { return f.recurrent.backward_data; }, nullptr, 0.1, 1.2},
    {"recurrent.backward_weights", [](Family& f) -> double& { return f.recurrent.backward_weights; }, nullptr, 0.2,
     1.2},
    {"attention.forward", [](Family& f) -> double& { return f.attention.forward; }, nullptr, 0.1, 1.0},
    {"attention.length_half", [](Family& f) -> double& { return f.attention.length_half; }, nullptr, 1.0, 5000.0},
};

constexpr Path kGemmFp32[] = {"kernel/gemm-fp32"};
constexpr Path kGemm16[] = {"kernel/gemm-16bit"};
constexpr Path kGemms[] = {"kernel/gemm-fp32", "kernel/gemm-16bit"};
constexpr Path kGemm8[] = {"kernel/gemm-8bit"};
constexpr Path kConvolutions[] = {"kernel/conv-forward", "kernel/conv-backward-data", "kernel/conv-backward-weights"};
constexpr Path kRecurrent[] = {"kernel/recurrent"};
constexpr Path kAttention[] = {"kernel/attention"};

constexpr Path kVectorProduct[] = {"gemm.vector."};
constexpr Path kMatrixProduct[] = {"gemm.matrix."};
constexpr Path kProducts[] = {"gemm."};
constexpr Path kEightBit[] = {"gemm.matrix.eight_bit"};
constexpr Path kVectorConvolution[] = {"convolution.vector.", "convolution.winograd.", "convolution.unfused_winograd.",
                                       "convolution.fft.", "convolution.direct"};
constexpr Path kMatrixConvolution[] = {"convolution.matrix.", "convolution.narrow_input"};
constexpr Path kAllConvolution[] = {"convolution."};
constexpr Path kRecurrentLayers[] = {"recurrent."};
constexpr Path kFusedAttention[] = {"attention.forward", "attention.length_half"};

// What vector and matrix units share (the memory) is settled by all kernels together, from good starts of both.
constexpr Stage kStages[] = {
    {"gemm, vector units", kGemmFp32, Units::vector, kVectorProduct},
    {"gemm, matrix units", kGemm16, Units::matrix, kMatrixProduct},
    {"gemm", kGemms, Units::any, kProducts},
    {"gemm, eight bits", kGemm8, Units::matrix, kEightBit},
    {"convolution, vector units", kConvolutions, Units::vector, kVectorConvolution},
    {"convolution, matrix units", kConvolutions, Units::matrix, kMatrixConvolution},
    {"convolution", kConvolutions, Units::any, kAllConvolution},
    {"recurrent", kRecurrent, Units::any, kRecurrentLayers},
    {"attention", kAttention, Units::matrix, kFusedAttention},
};

}  // namespace

std::span<const Constant> constants() { return kConstants; }

double value_of(const Constant& constant, const Family& family) {
  Family copy = family;
  return constant.number != nullptr ? constant.number(copy) : constant.time(copy).count();
}

void set_value(const Constant& constant, Family& family, double value) {
  const double held = std::clamp(value, constant.least, constant.most);
  if (constant.number != nullptr)
    constant.number(family) = held;
  else
    constant.time(family) = Seconds(held);
}

std::span<const Stage> stages() { return kStages; }

bool names(std::span<const std::string_view> paths, std::string_view path) {
  return std::ranges::any_of(
      paths, [&](std::string_view named) { return named.ends_with('.') ? path.starts_with(named) : path == named; });
}

}  // namespace gpuscale::fit
