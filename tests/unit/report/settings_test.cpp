#include "report/settings.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "sample_report.hpp"

using namespace gpuscale;

TEST_SUITE("report") {
  TEST_CASE("keys are named by as little of their path as tells them apart") {
    const std::vector<std::string> keys = {"cluster.gpus", "strategy.exchange.codec", "strategy.model.codec",
                                           "framework"};
    CHECK(short_names(keys) == std::vector<std::string>{"gpus", "exchange.codec", "model.codec", "framework"});
  }

  TEST_CASE("a key that is the end of another keeps its own name") {
    const std::vector<std::string> keys = {"codec", "strategy.codec"};
    CHECK(short_names(keys) == std::vector<std::string>{"codec", "strategy.codec"});
  }

  TEST_CASE("the last of several settings of a key counts") {
    Report report;
    report.settings = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
    CHECK(setting_of(report, "a") == "3");
    CHECK(setting_of(report, "c") == "");
    CHECK(setting_keys({&report, 1}) == std::vector<std::string>{"a", "b"});
  }
}
