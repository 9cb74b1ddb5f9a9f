#include "collective/pattern.hpp"

#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("collective") {
  TEST_CASE("a ring is one part whatever the order of its legs") {
    const Pattern ring{
        .channels = {{{.from = 2, .to = 3}, {.from = 0, .to = 1}, {.from = 1, .to = 2}, {.from = 3, .to = 0}}}};
    CHECK(parts_of(ring) == std::vector<Pattern>{ring});
  }

  TEST_CASE("pairs that swap are a part each and keep their weights") {
    const Leg there{.from = 0, .to = 4, .weight = 0.5};
    const Leg back{.from = 4, .to = 0, .weight = 0.5};
    const Leg other{.from = 5, .to = 1};
    const Pattern swaps{.channels = {{there, other, back}}};
    CHECK(parts_of(swaps) == std::vector<Pattern>{{.channels = {{there, back}}}, {.channels = {{other}}}});
  }

  TEST_CASE("channels over the same ranks stay together, those over others are parts") {
    const std::vector<Leg> right = {{.from = 0, .to = 1}, {.from = 1, .to = 0}};
    const std::vector<Leg> left = {{.from = 1, .to = 0}, {.from = 0, .to = 1}};
    const std::vector<Leg> elsewhere = {{.from = 2, .to = 3}};
    const Pattern boxes{.channels = {right, elsewhere, left}};
    CHECK(parts_of(boxes) == std::vector<Pattern>{{.channels = {right, left}}, {.channels = {elsewhere}}});
  }

  TEST_CASE("nothing has no parts") { CHECK(parts_of({}).empty()); }
}
