#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "units/quantity.hpp"

namespace gpuscale {

/// Number formats of tensors and arithmetic, spelled as in YAML.
enum class Precision { fp64, fp32, tf32, fp16, bf16, fp8 };

inline constexpr std::array<std::string_view, 6> kPrecisionNames = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8"};

constexpr std::string_view name(Precision precision) { return kPrecisionNames[static_cast<std::size_t>(precision)]; }

/// Size of one number in memory. tf32 is a way to multiply; its tensors are stored as fp32.
constexpr Bytes storage_size(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return Bytes(8);
    case Precision::fp32:
    case Precision::tf32:
      return Bytes(4);
    case Precision::fp16:
    case Precision::bf16:
      return Bytes(2);
    case Precision::fp8:
      return Bytes(1);
  }
  return Bytes(0);
}

}  // namespace gpuscale
