#include "study/message_sizes.hpp"

#include <doctest/doctest.h>
#include <stdexcept>

using namespace gpuscale;

TEST_SUITE("study") {
  TEST_CASE("sizes are read as nccl-tests and as scenarios write them") {
    CHECK(read_message_sizes("8", 2) == std::vector{8_B});
    CHECK(read_message_sizes("1K,2M,1G", 2) == std::vector{1_KiB, 2_MiB, 1_GiB});
    CHECK(read_message_sizes("64 MiB, 64 MB", 2) == std::vector{64_MiB, 64_MB});
    CHECK(read_message_sizes("8..1G", 2).size() == 28);
    CHECK(read_message_sizes("1..10", 3) == std::vector{1_B, 3_B, 9_B});
    CHECK(read_message_sizes("1..3", 1.01) == std::vector{1_B, 2_B, 3_B});
  }

  TEST_CASE("what is no size is refused") {
    for (const char* text : {"", "x", "8..", "..8", "-8", "0", "1e300", "nan", "8 GB/s", "9..8", "8,,9", "1PB..2PB"}) {
      CAPTURE(text);
      CHECK_THROWS_AS(read_message_sizes(text, 2), std::invalid_argument);
    }
    CHECK_THROWS_AS(read_message_sizes("1..1G", 1.0), std::invalid_argument);
  }

  TEST_CASE("ranks are numbers and ranges below their count") {
    CHECK(read_ranks("0,2,4-6", 8) == std::vector<std::size_t>{0, 2, 4, 5, 6});
    for (const char* text : {"", "8", "3-2", "1,1", "a", "0-99999999999999999999"}) {
      CAPTURE(text);
      CHECK_THROWS_AS(read_ranks(text, 8), std::invalid_argument);
    }
  }
}
