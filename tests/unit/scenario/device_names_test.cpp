#include "scenario/device_names.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace gpuscale;
using Names = std::vector<std::string>;

TEST_SUITE("scenario") {
  TEST_CASE("a range of devices is written out") {
    CHECK(device_names("cpu0") == Names{"cpu0"});
    CHECK(device_names("gpu[0-3]") == Names{"gpu0", "gpu1", "gpu2", "gpu3"});
    CHECK(device_names("gpu[9-10]x") == Names{"gpu9x", "gpu10x"});
    CHECK(device_names("n[0-1]g[0-1]") == Names{"n0g0", "n0g1", "n1g0", "n1g1"});
  }

  TEST_CASE("brackets that are no range of at most 10000 are refused") {
    for (const char* text : {"gpu[3-2]", "gpu[]", "gpu[0]", "gpu[0-]", "gpu[a-b]", "gpu[0-3", "gpu0-3]", "gpu[0-10000]",
                             "a[0-999]b[0-999]", "gpu[00-03]", "gpu[0-99999999999999999999]"}) {
      CAPTURE(text);
      CHECK(!device_names(text).has_value());
    }
  }
}
