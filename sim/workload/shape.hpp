#pragma once

/// \file
/// The shape of what flows between two layers, for one sample.

#include <cstdint>
#include <string>

namespace gpuscale {

/// What the numbers of a sample mean; decides which layers may follow.
enum class ShapeKind {
  image,     ///< channels x height x width
  features,  ///< one vector
  tokens,    ///< a row of token numbers, before an embedding
  sequence,  ///< a row of vectors
};

/// The shape of one sample. Made by the four functions below, so that fields a kind does not use
/// are 1 and == means the same shape.
struct Shape {
  ShapeKind kind = ShapeKind::features;
  std::int64_t channels = 1;  ///< image
  std::int64_t height = 1;    ///< image
  std::int64_t width = 1;     ///< image: columns; features and sequence: numbers of one vector
  std::int64_t length = 1;    ///< tokens and sequence

  bool operator==(const Shape&) const = default;
};

constexpr Shape image(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return {ShapeKind::image, channels, height, width, 1};
}
constexpr Shape features(std::int64_t width) { return {ShapeKind::features, 1, 1, width, 1}; }
constexpr Shape tokens(std::int64_t length) { return {ShapeKind::tokens, 1, 1, 1, length}; }
constexpr Shape sequence(std::int64_t length, std::int64_t width) { return {ShapeKind::sequence, 1, 1, width, length}; }

/// Numbers in one sample. A double, so that no size a user can write overflows.
constexpr double number_count(const Shape& shape) {
  return static_cast<double>(shape.channels) * static_cast<double>(shape.height) * static_cast<double>(shape.width) *
         static_cast<double>(shape.length);
}

/// "64x56x56" (channels, height, width), "4096", "128 tokens" or "128x512" (length, width).
std::string to_text(const Shape& shape);

/// The text with the kind in front, as in error messages: "an image of 64x56x56", "4096 features",
/// "128 tokens", "a sequence of 128x512".
std::string describe(const Shape& shape);

}  // namespace gpuscale
