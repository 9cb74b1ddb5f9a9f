#include "units/diagnostic.hpp"

#include <array>
#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("units") {
  TEST_CASE("a misspelt word is answered with the nearest name") {
    constexpr std::array<std::string_view, 3> kNames = {"ring", "direct", "double_tree"};
    CHECK(did_you_mean("rimg", kNames) == "; did you mean 'ring'?");
    CHECK(did_you_mean("Direct", kNames) == "; did you mean 'direct'?");
    CHECK(did_you_mean("hierarchy", kNames).empty());
    CHECK(did_you_mean("", kNames).empty());
  }

  TEST_CASE("the first part of a name is answered with the names that begin so") {
    constexpr std::array<std::string_view, 6> kCards = {"a10g",          "a100-pcie-40gb", "a100-sxm-40gb",
                                                        "a100-sxm-80gb", "h100-pcie",      "h100-sxm"};
    CHECK(did_you_mean("h100", kCards) == "; did you mean 'h100-pcie' or 'h100-sxm'?");
    CHECK(did_you_mean("A100", kCards) == "; did you mean 'a100-pcie-40gb', 'a100-sxm-40gb' or 'a100-sxm-80gb'?");
    CHECK(did_you_mean("a10", kCards) == "; did you mean 'a10g'?");
  }
}
