#include "report/json.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sample_report.hpp"

using namespace gpuscale;

namespace {

std::string text_of(const std::vector<Report>& reports) {
  std::ostringstream out;
  write_json(out, std::span<const Report>(reports));
  return out.str();
}

nlohmann::json point_of(const Report& report) { return nlohmann::json::parse(text_of({report}))["points"][0]; }

}  // namespace

TEST_SUITE("report") {
  TEST_CASE("the JSON document is exactly this") {
    CHECK(text_of({test::sample_report()}) == R"({
  "schema_version": 1,
  "program_version": "0.1.0",
  "points": [
    {
      "scenario": "Sample",
      "settings": {
        "cluster.gpus": 4,
        "strategy.exchange.codec": "int8"
      },
      "model": "Net",
      "gpu": "Card",
      "machine": "Box",
      "framework": "Framework",
      "strategy": "data parallel",
      "gpus": 4,
      "nodes": 1,
      "batch_per_gpu": 64,
      "global_batch": 256,
      "weak_scaling": true,
      "step_time_s": 0.25,
      "step_time_low_s": 0.2,
      "step_time_high_s": 0.5,
      "throughput_samples_per_s": 1024.0,
      "speedup": 3.0,
      "efficiency": 0.75,
      "baseline": "one GPU",
      "split": {
        "compute_s": 0.1875,
        "host_s": 0.0,
        "exchange_exposed_s": 0.0625,
        "bubble_s": 0.0,
        "input_s": 0.0,
        "jitter_s": 0.0
      },
      "exchanged_bytes_per_gpu": 1048576,
      "exchange_uncompressed_bytes_per_gpu": 4194304,
      "memory": {
        "parameters": 1073741824,
        "master_weights": 0,
        "gradients": 0,
        "optimizer": 0,
        "activations": 3221225472,
        "errors": 0,
        "workspace": 0,
        "exchange": 0,
        "framework": 0,
        "total": 4294967296,
        "capacity": 8589934592,
        "fits": true,
        "largest_batch_per_gpu": 149
      },
      "limited_by": "GPU compute: 75 % of the step",
      "links": [
        {
          "name": "gpu0 -> cpu0",
          "load": 0.5,
          "carried_bytes": 1048576
        }
      ],
      "not_modelled": [
        "weather"
      ],
      "provenance": [
        "net.yaml: a book"
      ]
    }
  ]
}
)");
  }

  TEST_CASE("a document without points is still a document") {
    const nlohmann::json document = nlohmann::json::parse(text_of({}));
    CHECK(document["points"].is_array());
    CHECK(document["points"].empty());
  }

  TEST_CASE("settings have the type of what they say") {
    Report report = test::sample_report();
    report.settings = {{"a", "4"},     {"b", "0.5"},      {"c", "true"}, {"d", "64 per gpu"},
                       {"e", "1e999"}, {"f", "infinity"}, {"g", ""},     {"h", "1-bit"}};
    const nlohmann::json settings = point_of(report)["settings"];
    CHECK(settings["a"].is_number_integer());
    CHECK(settings["b"] == 0.5);
    CHECK(settings["c"] == true);
    for (const char* key : {"d", "e", "f", "g", "h"}) {
      CAPTURE(key);
      CHECK(settings[key].is_string());
    }
  }

  TEST_CASE("what has no meaning for a point is left out") {
    Report report = test::sample_report();
    report.speedup.reset();
    CHECK_FALSE(point_of(report).contains("speedup"));
    CHECK_FALSE(point_of(report).contains("throughput_tokens_per_s"));
    report.throughput_tokens = 10.0;
    CHECK(point_of(report)["throughput_tokens_per_s"] == 10.0);
  }

  TEST_CASE("doubles read back as the same doubles") {
    Report report = test::sample_report();
    for (const double value : {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 0.31924935233800002}) {
      report.step_time = Seconds(value);
      CHECK(point_of(report)["step_time_s"].get<double>() == value);
    }
  }

  TEST_CASE("bytes that are no text and quotation marks survive as JSON") {
    Report report = test::sample_report();
    report.scenario = "a \"quoted\"\n\xff name";
    CHECK(point_of(report)["scenario"].get<std::string>().starts_with("a \"quoted\"\n"));
  }

  TEST_CASE("a ranking is the same document with places and reasons") {
    Ranking ranking{.entries = {{1, "data", 1.0, "fast", test::sample_report()}}, .verdict = "data wins"};
    std::ostringstream out;
    write_json(out, ranking);
    const nlohmann::json document = nlohmann::json::parse(out.str());
    CHECK(document["verdict"] == "data wins");
    CHECK(document["points"][0]["rank"] == 1);
    CHECK(document["points"][0]["name"] == "data");
    CHECK(document["points"][0]["why"] == "fast");
    CHECK(document["points"][0]["split"]["compute_s"] == 0.1875);
  }

  TEST_CASE("a refused point has what was asked for and its problem") {
    Report refused = test::sample_report(3);
    refused.problem = "64 does not divide";
    const nlohmann::json point = point_of(refused);
    CHECK(point == nlohmann::json{{"scenario", "Sample"},
                                  {"settings", {{"cluster.gpus", 3}, {"strategy.exchange.codec", "int8"}}},
                                  {"model", "Net"},
                                  {"gpu", "Card"},
                                  {"machine", "Box"},
                                  {"framework", "Framework"},
                                  {"gpus", 3},
                                  {"nodes", 1},
                                  {"problem", "64 does not divide"}});
    CHECK_FALSE(point_of(test::sample_report()).contains("problem"));
  }

  TEST_CASE("what cannot run has no rank") {
    Ranking ranking;
    ranking.entries = {{1, "a", 1.0, "fast", test::sample_report()},
                       {0, "b", 0.0, "cannot run: x", test::sample_report()}};
    ranking.entries[1].report.problem = "x";
    std::ostringstream out;
    write_json(out, ranking);
    const nlohmann::json points = nlohmann::json::parse(out.str())["points"];
    CHECK(points[0]["rank"] == 1);
    CHECK_FALSE(points[1].contains("rank"));
    CHECK_FALSE(points[1].contains("relative"));
    CHECK(points[1]["name"] == "b");
    CHECK(points[1]["problem"] == "x");
  }
}
