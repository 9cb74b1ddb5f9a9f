// Every folder of tests/golden/errors is a broken scenario and the exact text it must give. Beside
// scenario.yaml may stand settings.txt with lines `path=value`, as from --set. Data files are those of
// errors/library only. GPUSCALE_UPDATE_GOLDEN=1 rewrites expected.txt; read the diff.

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpuscale;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Setting> settings_of(const fs::path& folder) {
  std::vector<Setting> settings;
  std::istringstream lines(content(folder / "settings.txt"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    settings.push_back({line.substr(0, equals), equals == std::string::npos ? "" : line.substr(equals + 1)});
  }
  return settings;
}

void remove_all(std::string& text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

std::string errors_of(const fs::path& folder, const fs::path& errors) {
  const Library library({errors / "library"});
  try {
    static_cast<void>(
        ScenarioFile::parse(content(folder / "scenario.yaml"), "scenario.yaml").resolve(library, settings_of(folder)));
  } catch (const ScenarioError& error) {
    std::string text = error.what();
    remove_all(text, errors.string() + "/");
    return text + "\n";
  }
  return "no error\n";
}

}  // namespace

TEST_SUITE("scenario errors") {
  TEST_CASE("each broken scenario gives its exact errors") {
    const fs::path errors = fs::path(GPUSCALE_SOURCE_DIR) / "tests" / "golden" / "errors";
    const bool update = std::getenv("GPUSCALE_UPDATE_GOLDEN") != nullptr;
    int cases = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(errors)) {
      if (!fs::exists(entry.path() / "scenario.yaml")) continue;
      ++cases;
      const std::string name = entry.path().filename().string();
      CAPTURE(name);
      const std::string ours = errors_of(entry.path(), errors);
      if (update) std::ofstream(entry.path() / "expected.txt", std::ios::binary) << ours;
      CHECK(ours == content(entry.path() / "expected.txt"));
      CHECK(ours != "no error\n");
    }
    CHECK(cases >= 45);
  }
}
