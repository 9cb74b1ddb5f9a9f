#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace gpuscale {

/// The capacity with which a vector of many flows' elements goes on growing: a quarter more, or an eighth once it is
/// large, not the double, so that little of its memory is idle.
constexpr std::size_t tight_capacity(std::size_t size) {
  constexpr std::size_t kLarge = 16384;
  return size + size / (size < kLarge ? 4 : 8) + 1;
}

/// Resizes such a vector.
template <class Element>
void resize_tightly(std::vector<Element>& elements, std::size_t size, const Element& value = Element()) {
  if (size > elements.capacity()) elements.reserve(std::max(size, tight_capacity(elements.capacity())));
  elements.resize(size, value);
}

/// Adds an element to such a vector.
template <class Element>
void push_tightly(std::vector<Element>& elements, const std::type_identity_t<Element>& element) {
  if (elements.size() == elements.capacity()) elements.reserve(tight_capacity(elements.size()));
  elements.push_back(element);
}

}  // namespace gpuscale
