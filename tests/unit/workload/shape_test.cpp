#include "workload/shape.hpp"

#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("workload") {
  TEST_CASE("a shape reads as its sizes and with its kind in error messages") {
    CHECK(to_text(image(64, 56, 28)) == "64x56x28");
    CHECK(to_text(features(4096)) == "4096");
    CHECK(to_text(sequence(128, 512)) == "128x512");
    CHECK(describe(image(3, 224, 224)) == "an image of 3x224x224");
    CHECK(describe(features(10)) == "10 features");
    CHECK(describe(tokens(128)) == "128 tokens");
    CHECK(describe(sequence(128, 512)) == "a sequence of 128x512");
  }

  TEST_CASE("shapes of different kinds differ even with equal counts") {
    CHECK(number_count(image(3, 224, 224)) == 150528);
    CHECK(number_count(sequence(128, 512)) == 65536);
    CHECK(features(7) != tokens(7));
    CHECK(number_count(features(7)) == number_count(tokens(7)));
  }
}
