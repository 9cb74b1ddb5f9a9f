#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus() {
  std::vector<fs::path> files;
  const fs::path root = fs::path(GPUSCALE_SOURCE_DIR) / "tests";
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "fuzz" / "corpus" / "scenario")) {
    files.push_back(entry.path());
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "golden" / "errors")) {
    if (fs::exists(entry.path() / "scenario.yaml")) files.push_back(entry.path() / "scenario.yaml");
  }
  std::ranges::sort(files);
  std::vector<std::string> seeds;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    seeds.push_back(text.str());
  }
  return seeds;
}

bool ends_well(const std::string& text) {
  return LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()) == 0;
}

/// mt19937 gives the same numbers everywhere; the distributions of <random> do not.
class Mutator {
 public:
  std::string mutate(std::string text) {
    if (text.empty()) return text;
    for (std::size_t times = 1 + below(3); times > 0; --times) {
      const std::size_t at = below(text.size());
      const std::size_t length = std::min(below(40), text.size() - at);
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << below(8)));
          break;
        case 1:
          text.resize(std::max<std::size_t>(at, 1));
          break;
        case 2:
          text.insert(at, text.substr(at, length));
          break;
        case 3:
          text.erase(at, std::min(length, text.size() - 1));
          break;
        default:
          text[at] = kMarks[below(kMarks.size())];
          break;
      }
    }
    return text;
  }

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_()) % limit; }

 private:
  static constexpr std::string_view kMarks = ":-{}[],&*!|>'\"%@`#?0.\n\t $~";
  std::mt19937 random_{20260101};
};

}  // namespace

TEST_SUITE("fuzz") {
  TEST_CASE("every seed of the scenario corpus ends in a scenario or its errors") {
    const std::vector<std::string> seeds = corpus();
    CHECK(seeds.size() > 10);
    for (const std::string& seed : seeds) CHECK(ends_well(seed));
  }

  TEST_CASE("scenarios with random damage end in a scenario or their errors") {
    const std::vector<std::string> seeds = corpus();
    Mutator mutator;
    constexpr int kRounds = 3000;
    int good = 0;
    for (int round = 0; round < kRounds; ++round) {
      const std::string text = mutator.mutate(seeds[mutator.below(seeds.size())]);
      CAPTURE(text);
      good += ends_well(text) ? 1 : 0;
    }
    CHECK(good == kRounds);
  }

  TEST_CASE("every truncation of a scenario ends in a scenario or its errors") {
    const std::vector<std::string> seeds = corpus();
    const auto longest = std::ranges::max_element(seeds, {}, &std::string::size);
    for (std::size_t length = 0; length < longest->size(); length += 7) CHECK(ends_well(longest->substr(0, length)));
  }
}
