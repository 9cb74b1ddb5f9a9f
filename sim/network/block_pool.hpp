#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "network/tight_growth.hpp"

namespace gpuscale {

/// Blocks of consecutive elements in one vector, addressed by the index of their first element.
/// A released block serves the next request of its size class: every size up to 16, then powers
/// of two. Contents of a new block are unspecified. Allocating may move all elements in memory.
template <class Element>
class BlockPool {
 public:
  /// Index of the first of `count` elements. \pre count > 0.
  std::uint32_t allocate(std::uint32_t count) {
    std::vector<std::uint32_t>& free = free_[size_class(count)];
    if (free.empty()) {
      const auto begin = static_cast<std::uint32_t>(elements_.size());
      resize_tightly(elements_, elements_.size() + class_size(count));
      return begin;
    }
    const std::uint32_t begin = free.back();
    free.pop_back();
    return begin;
  }

  /// Gives a block back. \pre begin came from allocate(count).
  void release(std::uint32_t begin, std::uint32_t count) { free_[size_class(count)].push_back(begin); }

  [[nodiscard]] Element& operator[](std::uint32_t index) { return elements_[index]; }
  [[nodiscard]] const Element& operator[](std::uint32_t index) const { return elements_[index]; }

 private:
  static constexpr std::uint32_t kExact = 16;

  static std::uint32_t class_size(std::uint32_t count) { return count <= kExact ? count : std::bit_ceil(count); }
  static std::size_t size_class(std::uint32_t count) {
    return count <= kExact ? count : kExact + static_cast<std::size_t>(std::bit_width(count - 1));
  }

  std::vector<Element> elements_;
  std::array<std::vector<std::uint32_t>, kExact + 33> free_;
};

}  // namespace gpuscale
