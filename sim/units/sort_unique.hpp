#pragma once

#include <algorithm>
#include <vector>

namespace gpuscale {

/// Puts values in ascending order, each once.
template <class Value>
void sort_unique(std::vector<Value>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace gpuscale
