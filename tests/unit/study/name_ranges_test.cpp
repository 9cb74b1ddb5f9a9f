#include "study/name_ranges.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace gpuscale;

TEST_SUITE("study") {
  TEST_CASE("names that count up are a range") {
    CHECK(name_ranges(std::vector<std::string>{}).empty());
    CHECK(name_ranges(std::vector<std::string>{"gpu0"}) == "gpu0");
    CHECK(name_ranges(std::vector<std::string>{"gpu0", "gpu1", "gpu2", "gpu5"}) == "gpu0-2, gpu5");
    CHECK(name_ranges(std::vector<std::string>{"gpu1", "gpu0"}) == "gpu1, gpu0");
    CHECK(name_ranges(std::vector<std::string>{"switch", "gpu0"}) == "switch, gpu0");
  }

  TEST_CASE("boxes with the same devices are a range too") {
    std::vector<std::string> names;
    for (const char* node : {"node0", "node1", "node2"}) {
      for (const char* gpu : {".gpu0", ".gpu1"}) names.push_back(std::string(node) + gpu);
    }
    CHECK(name_ranges(names) == "node0-2.gpu0-1");
    names.pop_back();
    CHECK(name_ranges(names) == "node0-1.gpu0-1, node2.gpu0");
  }
}
