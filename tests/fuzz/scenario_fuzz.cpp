// Any bytes end in a Scenario or a ScenarioError; anything else is a bug. Build with
//   clang++ -std=c++20 -g -fsanitize=fuzzer,address,undefined -DGPUSCALE_SOURCE_DIR='"..."' -Isim ...
// and run on a copy of tests/fuzz/corpus/scenario. replay_test.cpp runs the corpus in the tests.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "scenario/scenario.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gpuscale::Library library(
      {std::filesystem::path(GPUSCALE_SOURCE_DIR) / "tests" / "golden" / "errors" / "library"});
  try {
    const auto file = gpuscale::ScenarioFile::parse(std::string(data, data + size), "fuzz.yaml");
    static_cast<void>(file.resolve(library, {}));
  } catch (const gpuscale::ScenarioError&) {
    // the other allowed end
  }
  return 0;
}
