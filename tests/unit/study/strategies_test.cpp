#include "study/strategies.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>

using namespace gpuscale;

namespace {

std::string value(std::string_view strategy, std::string_view path) {
  const std::vector<Setting> settings = strategy_settings(strategy, 8);
  const auto found = std::ranges::find(settings, path, &Setting::path);
  return found == settings.end() ? "unset" : found->value;
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("a strategy sets how the job is split") {
    CHECK(value("data", "strategy.data") == "auto");
    CHECK(value("data", "strategy.model.degree") == "1");
    CHECK(value("model", "strategy.model.degree") == "8");
    CHECK(value("independent", "strategy.independent") == "true");
    CHECK(value("data", "strategy.independent") == "false");
  }

  TEST_CASE("a codec belongs to what the strategy sends") {
    CHECK(value("data+int8", "strategy.exchange.codec") == "int8");
    CHECK(value("data+int8", "strategy.model.codec") == "none");
    CHECK(value("model+int8", "strategy.model.codec") == "int8");
    CHECK(value("model+int8", "strategy.exchange.codec") == "none");
    CHECK(value("data", "strategy.exchange.codec") == "none");
  }

  TEST_CASE("an exchange algorithm is only set if it is named") {
    CHECK(value("data", "strategy.exchange.algorithm") == "unset");
    CHECK(value("data+parameter_server_cpu+fp16", "strategy.exchange.algorithm") == "parameter_server_cpu");
    CHECK(value("data+parameter_server_cpu+fp16", "strategy.exchange.codec") == "fp16");
  }

  TEST_CASE("degrees are named with their number and stand alone or behind data") {
    CHECK(value("tensor8+pipeline4+zero1", "strategy.tensor") == "8");
    CHECK(value("tensor8+pipeline4+zero1", "strategy.pipeline.stages") == "4");
    CHECK(value("tensor8+pipeline4+zero1", "strategy.zero") == "1");
    CHECK(value("tensor8+pipeline4+zero1", "strategy.data") == "auto");
    CHECK(value("data+context2+fp16", "strategy.context") == "2");
    CHECK(value("data+context2+fp16", "strategy.tensor") == "1");
    CHECK(value("data+context2+fp16", "strategy.zero") == "0");
    CHECK(value("data+context2+fp16", "strategy.exchange.codec") == "fp16");
    CHECK(value("data", "strategy.tensor") == "unset");
    CHECK(value("zero3+node", "strategy.shard_group") == "node");
    CHECK(value("zero3", "strategy.shard_group") == "all");
    CHECK_THROWS_AS(strategy_settings("tensor", 8), std::invalid_argument);
    CHECK_THROWS_AS(strategy_settings("model+tensor2", 8), std::invalid_argument);
  }

  TEST_CASE("a choice is made once") {
    for (const char* name :
         {"data+int8+fp16", "data+int8+int8", "data+ring+direct", "data+ring+int8+direct", "model+none+int8"}) {
      CAPTURE(name);
      CHECK_THROWS_AS(strategy_settings(name, 4), std::invalid_argument);
    }
    CHECK_THROWS_WITH(strategy_settings("data+int8+fp16", 4),
                      "strategy 'data+int8+fp16': int8 and fp16 are two codecs; name one");
    CHECK_THROWS_WITH(strategy_settings("data+ring+direct", 4),
                      "strategy 'data+ring+direct': ring and direct are two algorithms; name one");
  }

  TEST_CASE("messages about the settings of a strategy name the strategy") {
    for (const Setting& setting : strategy_settings("model+int8", 4)) {
      CHECK(setting.origin.file == "strategy 'model+int8'");
    }
  }

  TEST_CASE("unknown strategies are refused") {
    for (const char* name : {"", "dat", "data+", "data+int9", "model+ring", "independent+int8", "int8"}) {
      CAPTURE(name);
      CHECK_THROWS_AS(strategy_settings(name, 4), std::invalid_argument);
    }
  }
}
