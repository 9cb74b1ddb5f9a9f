#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace gpuscale::test {

/// Random numbers that are the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  /// A whole number from 0 to limit - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  /// From 0 to 1, 1 not included.
  double fraction() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  template <class Element>
  void shuffle(std::vector<Element>& elements) {
    for (std::size_t i = elements.size(); i > 1; --i) std::swap(elements[i - 1], elements[below(i)]);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace gpuscale::test
