#pragma once

/// \file
/// The constants of an architecture family that can be fitted, by their path in its file, and which kernels
/// decide which of them.

#include <span>
#include <string_view>

#include "hardware/family.hpp"

namespace gpuscale::fit {

/// One number of a family file.
struct Constant {
  std::string_view path;                ///< "gemm.vector.efficiency"
  double& (*number)(Family&);           ///< null for a time
  Seconds& (*time)(Family&) = nullptr;  ///< null for a number
  double least = 0.0;                   ///< times in seconds
  double most = 1.0;
};

std::span<const Constant> constants();

double value_of(const Constant& constant, const Family& family);

/// Sets the constant, held within its limits.
void set_value(const Constant& constant, Family& family, double value);

enum class Units { vector, matrix, any };

/// Constants that are fitted together, on the kernels of these classes.
struct Stage {
  std::string_view name;
  std::span<const std::string_view> classes;    ///< of the validation rule
  Units units = Units::any;                     ///< only kernels computed on these
  std::span<const std::string_view> constants;  ///< paths, or beginnings of paths that end in a dot
};

/// In the order in which they are fitted.
std::span<const Stage> stages();

/// Whether a path is one of `paths` or below one of them.
bool names(std::span<const std::string_view> paths, std::string_view path);

}  // namespace gpuscale::fit
