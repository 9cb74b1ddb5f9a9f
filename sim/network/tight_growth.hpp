#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gpuscale {

/// Resizes a vector that may hold an element for each of very many flows: it grows by a quarter, not
/// to the double, so that little of its memory is idle.
template <class Element>
void resize_tightly(std::vector<Element>& elements, std::size_t size, const Element& value = Element()) {
  if (size > elements.capacity()) elements.reserve(std::max(size, elements.capacity() + elements.capacity() / 4));
  elements.resize(size, value);
}

}  // namespace gpuscale
