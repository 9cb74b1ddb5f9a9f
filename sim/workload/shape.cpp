#include "workload/shape.hpp"

#include <fmt/format.h>

namespace gpuscale {

std::string to_text(const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::image:
      return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
    case ShapeKind::features:
      return fmt::format("{}", shape.width);
    case ShapeKind::tokens:
      return fmt::format("{} tokens", shape.length);
    case ShapeKind::sequence:
      return fmt::format("{}x{}", shape.length, shape.width);
  }
  return {};
}

std::string describe(const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::image:
      return "an image of " + to_text(shape);
    case ShapeKind::features:
      return to_text(shape) + " features";
    case ShapeKind::tokens:
      return to_text(shape);
    case ShapeKind::sequence:
      return "a sequence of " + to_text(shape);
  }
  return {};
}

}  // namespace gpuscale
