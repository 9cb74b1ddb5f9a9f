// fit, calibrate and sensitivity as their user meets them: what they print to the last digit, exit codes, refusals.
// GPUSCALE_UPDATE_GOLDEN=1 rewrites the outputs; the difference is read before it is committed.

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "program.hpp"

using namespace gpuscale::test;

namespace {

const std::string kQuickstart = "workloads/scenarios/quickstart.yaml";
const std::string kMeasured = "tests/golden/studies/measured.csv";

void check_golden(const std::string& arguments, const char* file, int code) {
  CAPTURE(arguments);
  const Outcome outcome = gpuscale_with(arguments);
  CHECK(outcome.code == code);
  const std::filesystem::path expected = std::filesystem::path(GPUSCALE_SOURCE_DIR) / "tests/golden/studies" / file;
  if (std::getenv("GPUSCALE_UPDATE_GOLDEN") != nullptr) std::ofstream(expected, std::ios::binary) << outcome.out;
  CHECK(outcome.out == content(expected));
}

/// A table in a file of its own.
Outcome calibrate_text(const std::string& table, const std::string& options = "") {
  const Scratch scratch;
  std::ofstream(scratch / "m.csv") << table;
  return gpuscale_with("calibrate '" + (scratch / "m.csv").string() + "' " + options);
}

}  // namespace

TEST_SUITE("program") {
  TEST_CASE("fit prints causes with bars and what would save memory") {
    check_golden("fit " + kQuickstart + " --set workload.batch='256 per gpu'", "fit-too-large.txt", 4);
    check_golden("fit " + kQuickstart + " --sweep workload.batch='64 per gpu,128 per gpu'", "fit-two-batches.txt", 4);
    check_golden("fit --format md " + kQuickstart, "fit.md", 0);
  }

  TEST_CASE("fit exits with 4 if a job does not fit and says so") {
    const Outcome small = gpuscale_with("fit -q " + kQuickstart);
    CHECK(small.code == 0);
    CHECK(small.err == "");
    const Outcome large = gpuscale_with("fit --format json " + kQuickstart + " --set workload.batch='512 per gpu'");
    CHECK(large.code == 4);
    CHECK(contains(large.err, "does not fit in memory"));
    CHECK(nlohmann::json::parse(large.out)["points"][0]["memory"]["fits"] == false);
  }

  TEST_CASE("of several jobs one that cannot run is a row with the reason") {
    const std::string sweep = "fit " + kQuickstart + " --sweep cluster.gpus=4,9 ";
    const Outcome table = gpuscale_with(sweep);
    CHECK(table.code == 0);
    CHECK(contains(table.out, "9 GPUs do not fit"));
    CHECK(contains(table.err, "1 of 2 jobs cannot run"));
    const nlohmann::json json = nlohmann::json::parse(gpuscale_with(sweep + "--format json").out);
    CHECK(json["points"][0]["memory"]["fits"] == true);
    CHECK(contains(json["points"][1]["problem"].get<std::string>(), "9 GPUs do not fit"));
    CHECK(gpuscale_with("fit " + kQuickstart + " --set cluster.gpus=9").code == 3);
  }

  TEST_CASE("a change that fit names works when it is set") {
    const Outcome large = gpuscale_with("fit -q --format json " + kQuickstart + " --set workload.batch='512 per gpu'");
    const nlohmann::json point = nlohmann::json::parse(large.out)["points"][0];
    for (const nlohmann::json& change : point["changes"]) {
      if (change["change"] != point["fits_with"]) continue;
      std::string options = "fit -q " + kQuickstart + " --set workload.batch='512 per gpu'";
      for (const auto& [key, value] : change["settings"].items()) {
        options += " --set " + key + "='" + value.get<std::string>() + "'";
      }
      CHECK(gpuscale_with(options).code == 0);
    }
  }

  TEST_CASE("sensitivity ranks the figures of a link that is copied over") {
    check_golden("sensitivity " + kQuickstart + " --set 'workload={transfer: {numbers: 100000000}}'",
                 "sensitivity-transfer.txt", 0);
  }

  TEST_CASE("sensitivity prints every format") {
    const nlohmann::json json = nlohmann::json::parse(gpuscale_with("sensitivity -q --format json " + kQuickstart).out);
    CHECK(json["figures"].size() >= 6);
    CHECK(json["figures"][0]["relative_step_time_worse"].get<double>() > 1.2);
    CHECK(contains(gpuscale_with("sensitivity --format csv " + kQuickstart).out, "figure,name,now,elasticity"));
    CHECK(contains(gpuscale_with("sensitivity --format md " + kQuickstart).out, "| memory bandwidth |"));
  }

  TEST_CASE("calibrate prints errors before and after and writes factors that a scenario reads") {
    check_golden("calibrate -q " + kMeasured, "calibrate.txt", 0);
    const Scratch scratch;
    const std::string file = (scratch / "box.yaml").string();
    CHECK(gpuscale_with("calibrate " + kMeasured + " -o " + file).code == 0);
    CHECK(contains(content(file), "products: "));
    const Outcome run = gpuscale_with("run -q " + kQuickstart + " --set workload.calibrate=" + file + " --verbose");
    CHECK(run.code == 0);
    CHECK(contains(run.out, "6 measurements of measured.csv"));
  }

  TEST_CASE("calibrate refuses what it cannot use with the place and what is missing") {
    const Outcome few = calibrate_text("gpu,model,batch,throughput\ngtx-1080-ti,resnet50,64,190\n");
    CHECK(few.code == 3);
    CHECK(few.out == "");
    CHECK(contains(few.err, "1 of 2 measurements is too few; add 1 more measurement"));
    const Outcome wrong = calibrate_text("gpu,model,batch,throughput\ngtx-1080-tj,resnet50,64,190\nm40,x,8,fast\n");
    CHECK(wrong.code == 3);
    CHECK(contains(wrong.err, "m.csv:2:1: error: unknown GPU 'gtx-1080-tj'; did you mean 'gtx-1080-ti'?"));
    CHECK(contains(wrong.err, "m.csv:3:5: error: unknown model 'x'"));
    CHECK(contains(wrong.err, "m.csv:3:9: error: 'fast'"));
    CHECK(calibrate_text("gpu,model\n").code == 3);
    CHECK(gpuscale_with("calibrate no-such-file.csv").code == 3);
  }

  TEST_CASE("a command line of a study that makes no sense exits with 2 and a hint") {
    struct Row {
      std::string arguments;
      std::string hint;
    };
    for (const Row& row : {Row{"fit", "give scenario files"}, Row{"sensitivity", "give one scenario file"},
                           Row{"calibrate", "give one CSV file"}, Row{"fitt x", "did you mean 'fit'?"},
                           Row{"sensitivty x", "did you mean 'sensitivity'?"},
                           Row{"fit " + kQuickstart + " --sweep workload.batch", "write path="},
                           Row{"calibrate " + kMeasured + " --format jsno", "did you mean 'json'?"},
                           Row{"calibrate " + kMeasured + " -o " + kMeasured, "would write over"}}) {
      CAPTURE(row.arguments);
      const Outcome outcome = gpuscale_with(row.arguments);
      CHECK(outcome.code == 2);
      CHECK(outcome.out == "");
      CHECK_MESSAGE(contains(outcome.err, row.hint), outcome.err);
    }
  }

  TEST_CASE("no result is written over a file that it is made from") {
    const Scratch scratch;
    const std::string machine = (scratch / "box.yaml").string();
    const std::string before =
        content(std::filesystem::path(GPUSCALE_SOURCE_DIR) / "topologies/machines/dgx-1-v100.yaml");
    std::ofstream(machine) << before;
    for (const std::string& options :
         {"topo " + machine + " --gpu v100-sxm2 -o " + machine, "topo " + machine + " --gpu v100-sxm2 --svg " + machine,
          "exchange --machine " + machine + " --gpu v100-sxm2 -o " + machine}) {
      CAPTURE(options);
      const Outcome outcome = gpuscale_with(options);
      CHECK(outcome.code == 2);
      CHECK(contains(outcome.err, "would write over"));
      CHECK(content(machine) == before);
    }
    CHECK(contains(gpuscale_with("validate -o tests/validation/rules/lambdatf.yaml").err, "would write over"));
  }
}
