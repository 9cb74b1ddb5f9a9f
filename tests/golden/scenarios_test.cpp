// Every shipped scenario gives exactly the report it gave before. GPUSCALE_UPDATE_GOLDEN=1 rewrites the
// reports; the difference is read before it is committed.

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "report/csv.hpp"
#include "study/sweep.hpp"
#include "validation/scenario_runs.hpp"

using namespace gpuscale;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = GPUSCALE_SOURCE_DIR;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string report_of(const fs::path& scenario) {
  std::ostringstream text;
  write_csv(text, test::sweep_of(scenario));
  return text.str();
}

}  // namespace

TEST_SUITE("golden") {
  TEST_CASE("every shipped scenario gives its report to the last digit") {
    const fs::path reports = kSource / "tests/golden/scenarios";
    const bool update = std::getenv("GPUSCALE_UPDATE_GOLDEN") != nullptr;
    std::set<fs::path> scenarios;
    for (const auto& entry : fs::directory_iterator(kSource / "workloads/scenarios")) {
      if (entry.path().extension() == ".yaml") scenarios.insert(entry.path());
    }
    REQUIRE(scenarios.size() >= 10);
    for (const fs::path& scenario : scenarios) {
      CAPTURE(scenario.filename().string());
      const fs::path expected = reports / scenario.filename().replace_extension(".csv");
      const std::string report = report_of(scenario);
      if (update) std::ofstream(expected, std::ios::binary) << report;
      CHECK(report == content(expected));
    }
  }
}
