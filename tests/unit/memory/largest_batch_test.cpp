#include "memory/largest_batch.hpp"

#include <cmath>
#include <doctest/doctest.h>

using namespace gpuscale;

namespace {

constexpr double kMost = 1e9;

struct Search {
  double found = 0;
  int asked = 0;
};

template <class Size>
Search search(const Size& size, double capacity, double first = 64) {
  Search result;
  const auto counted = [&](double samples) {
    ++result.asked;
    return Bytes(size(samples));
  };
  result.found = largest_that_fits(counted, Bytes(capacity), first, kMost);
  return result;
}

}  // namespace

TEST_SUITE("memory") {
  TEST_CASE("the largest number fits and one more does not whatever the shape and the start") {
    const auto line = [](double n) { return 1e9 + 3e6 * n; };
    const auto stepped = [](double n) { return 1e9 + 64e6 * std::ceil(n / 7); };
    const auto bent = [](double n) { return 1e9 + 1e6 * n + 5e6 * std::max(0.0, n - 900); };
    const auto saturating = [](double n) { return 1e9 + 3e6 * n + 2e9 * n / (n + 50); };
    const auto steep = [](double n) { return 1e6 * n * n; };
    for (const double capacity : {1.1e9, 4e9, 11e9, 80e9}) {
      for (const double first : {1.0, 2.0, 64.0, 5000.0, 1e9}) {
        CAPTURE(capacity);
        CAPTURE(first);
        const auto check = [&](const auto& size) {
          const Search result = search(size, capacity, first);
          CHECK(result.found == std::floor(result.found));
          if (result.found >= 1) CHECK(size(result.found) <= capacity);
          CHECK(size(result.found + 1) > capacity);
          CHECK(result.asked <= 80);
        };
        check(line);
        check(stepped);
        check(bent);
        check(saturating);
        check(steep);
      }
    }
  }

  TEST_CASE("a size that grows evenly is found at once") {
    const Search result = search([](double n) { return 1e9 + 3e6 * n; }, 11e9);
    CHECK(result.found == 3333);
    CHECK(result.asked <= 7);
  }

  TEST_CASE("nothing fits where one sample does not and everything where size does not grow") {
    CHECK(search([](double) { return 2e9; }, 1e9).found == 0);
    CHECK(search([](double) { return 1e9; }, 2e9).found == kMost);
  }
}
