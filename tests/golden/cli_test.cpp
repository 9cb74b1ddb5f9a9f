// What a user of the program meets: exit codes, streams, formats. Runs the program as it was built; its
// figures are the business of other tests.

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/wait.h>

#include "program.hpp"

namespace fs = std::filesystem;

using namespace gpuscale::test;

namespace {

const std::string kQuickstart = "workloads/scenarios/quickstart.yaml";

}  // namespace

TEST_SUITE("program") {
  TEST_CASE("help and version go to stdout and succeed") {
    for (const char* arguments : {"--help", "-h", "help", "help run", "run --help", "sweep -h", "help compare",
                                  "help list", "help schema", "--version"}) {
      CAPTURE(arguments);
      const Outcome outcome = gpuscale_with(arguments);
      CHECK(outcome.code == 0);
      CHECK(outcome.out != "");
      CHECK(outcome.err == "");
    }
    CHECK(contains(gpuscale_with("help run").out, "--set PATH=VALUE"));
  }

  TEST_CASE("a command line that makes no sense exits with 2 and a hint") {
    struct Row {
      std::string arguments;
      std::string hint;
    };
    for (const Row& row :
         {Row{"", "Usage: gpuscale COMMAND"}, Row{"swep x.yaml", "did you mean 'sweep'?"},
          Row{"run --formt json", "did you mean '--format'?"}, Row{"run", "give one scenario file"},
          Row{"--set a=b run x.yaml", "a command comes first"}, Row{"list gpu", "did you mean 'gpus'?"},
          Row{"run " + kQuickstart + " --format jsno", "did you mean 'json'?"},
          Row{"run " + kQuickstart + " --set cluster.gpus", "write path=value"},
          Row{"run " + kQuickstart + " --assert 'speedpu > 2'", "did you mean 'speedup'?"},
          Row{"run " + kQuickstart + " --output /no/such/folder/x", "cannot write to"},
          Row{"sweep " + kQuickstart + " --jobs many", "jobs"},
          Row{"sweep " + kQuickstart + " --sweep a=1,,2", "has an empty value"},
          Row{"compare " + kQuickstart + " --strategies data+int9", "did you mean 'int8'?"}}) {
      CAPTURE(row.arguments);
      const Outcome outcome = gpuscale_with(row.arguments);
      CHECK(outcome.code == 2);
      CHECK(outcome.out == "");
      CHECK_MESSAGE(contains(outcome.err, row.hint), outcome.err);
    }
  }

  TEST_CASE("bad input exits with 3 and every problem on stderr") {
    CHECK(gpuscale_with("run no-such-file.yaml").code == 3);
    const Outcome outcome = gpuscale_with("run - --format json", "workload: {modle: resnet50}\ncluster: {gpus: x}\n");
    CHECK(outcome.code == 3);
    CHECK(outcome.out == "");
    CHECK(contains(outcome.err, "standard input:1:12: error: "));
    CHECK(contains(outcome.err, "standard input:2:"));
  }

  TEST_CASE("run prints one point in every format") {
    const Outcome table = gpuscale_with("run " + kQuickstart);
    CHECK(table.code == 0);
    CHECK(contains(table.out, "speed-up"));
    CHECK(contains(table.err, "without its sweep"));
    CHECK(gpuscale_with("run --quiet " + kQuickstart).err == "");
    const nlohmann::json json = nlohmann::json::parse(gpuscale_with("run -q --format json " + kQuickstart).out);
    CHECK(json["schema_version"] == 1);
    REQUIRE(json["points"].size() == 1);
    CHECK(json["points"][0]["gpus"] == 4);
    CHECK(json["points"][0]["step_time_s"].is_number());
    CHECK(gpuscale_with("run -q --format csv " + kQuickstart).out.starts_with("scenario,"));
    CHECK(gpuscale_with("run -q --format md " + kQuickstart).out.starts_with("| "));
  }

  TEST_CASE("a scenario may come from standard input") {
    const std::string scenario = content(fs::path(GPUSCALE_SOURCE_DIR) / kQuickstart);
    CHECK(gpuscale_with("run -q --format csv -", scenario).out ==
          gpuscale_with("run -q --format csv " + kQuickstart).out);
  }

  TEST_CASE("simulating every GPU gives what simulating alike ones once gives") {
    for (const std::string& scenario :
         {kQuickstart, std::string("workloads/scenarios/transformer-2019-desktop.yaml")}) {
      CAPTURE(scenario);
      const auto step_time = [&](const std::string& option) {
        const Outcome outcome = gpuscale_with("run " + scenario + " --format json" + option);
        CHECK(outcome.code == 0);
        return nlohmann::json::parse(outcome.out)["points"][0]["step_time_s"].get<double>();
      };
      CHECK(step_time("") == step_time(" --no-fold"));
    }
  }

  TEST_CASE("a job that does not fit is reported and exits with 4") {
    const Outcome outcome = gpuscale_with("run -q --set 'workload.batch=4096 per gpu' " + kQuickstart);
    CHECK(outcome.code == 4);
    CHECK(contains(outcome.out, "DOES NOT FIT"));
    CHECK(contains(outcome.err, "does not fit in memory"));
  }

  TEST_CASE("conditions decide the exit code and leave the report") {
    CHECK(gpuscale_with("run -q --assert 'speedup > 1' --assert 'fits == true' " + kQuickstart).code == 0);
    const Outcome outcome = gpuscale_with("run -q --assert 'speedup > 5' " + kQuickstart);
    CHECK(outcome.code == 5);
    CHECK(contains(outcome.out, "speed-up"));
    CHECK(contains(outcome.err, "'speedup > 5' does not hold: speedup is "));
  }

  TEST_CASE("a sweep has a row for each point whatever the number of jobs") {
    const std::string sweep =
        "sweep -q --format json --sweep cluster.gpus=1,2,4 --sweep 'workload.batch=16 per gpu,32 per gpu' " +
        kQuickstart;
    const Outcome one = gpuscale_with(sweep + " --jobs 1");
    CHECK(one.code == 0);
    CHECK(one.out == gpuscale_with(sweep + " --jobs 4").out);
    const nlohmann::json points = nlohmann::json::parse(one.out)["points"];
    REQUIRE(points.size() == 6);
    CHECK(points[0]["settings"] == nlohmann::json{{"cluster.gpus", 1}, {"workload.batch", "16 per gpu"}});
    CHECK(points[1]["settings"] == nlohmann::json{{"cluster.gpus", 1}, {"workload.batch", "32 per gpu"}});
    CHECK(points[5]["settings"] == nlohmann::json{{"cluster.gpus", 4}, {"workload.batch", "32 per gpu"}});
  }

  TEST_CASE("a typo in one value of a sweep fails at once and says where") {
    const Outcome outcome = gpuscale_with("sweep --sweep cluster.gpus=1,two " + kQuickstart);
    CHECK(outcome.code == 3);
    CHECK(outcome.out == "");
    CHECK(contains(outcome.err, "(at cluster.gpus=two)"));
  }

  TEST_CASE("a setting fixes what the file sweeps") {
    const Outcome outcome = gpuscale_with("sweep --format csv --set cluster.gpus=2 " + kQuickstart);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.err, "cluster.gpus is set to 2 and not swept"));
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 2);
  }

  TEST_CASE("an interrupted sweep prints what is finished and exits with 130") {
    const Scratch scratch;
    const std::string program = std::string("GPUSCALE_PATH='") + GPUSCALE_SOURCE_DIR + "' '" + GPUSCALE_PROGRAM + "'";
    std::string batches = "1 per gpu";
    for (int i = 2; i <= 200; ++i) batches += "," + std::to_string(i) + " per gpu";
    std::string buckets = "1 MiB";
    for (int i = 2; i <= 400; ++i) buckets += "," + std::to_string(i) + " MiB";
    const std::string out = (scratch / "out").string();
    // Stopped as soon as it has begun; how far it came is a matter of speed, that it ends well is not.
    const std::string command = "cd '" + std::string(GPUSCALE_SOURCE_DIR) + "'; " + program +
                                " sweep --format json --sweep 'workload.batch=" + batches +
                                "' --sweep 'strategy.exchange.bucket=" + buckets + "' " + kQuickstart + " > '" + out +
                                "' 2> /dev/null & pid=$!; sleep 1; kill -TERM $pid; wait $pid";
    const int status = std::system(command.c_str());
    CHECK(WEXITSTATUS(status) == 130);
    const nlohmann::json document = nlohmann::json::parse(content(out));
    CHECK(document["points"].size() < 200 * 400 * 4);
  }

  TEST_CASE("a second interrupt does not wait for what is running and still prints what is finished") {
    const Scratch scratch;
    const std::string program = std::string("GPUSCALE_PATH='") + GPUSCALE_SOURCE_DIR + "' '" + GPUSCALE_PROGRAM + "'";
    std::string gpus = "1";  // and then points of seconds each
    for (int i = 0; i < 40; ++i) gpus += "," + std::to_string(16384 - i);
    const std::string large =
        " --set cluster.machine=dgx-1-p100 --set cluster.gpu=p100-sxm2 --set cluster.fabric=fdr-infiniband"
        " --set cluster.nodes=2048 quickstart";
    const std::string out = (scratch / "out").string();
    const std::string err = (scratch / "err").string();
    const std::string command = "cd /; " + program + " sweep --format json --jobs 1 --sweep cluster.gpus=" + gpus +
                                large + " > '" + out + "' 2> '" + err +
                                "' & pid=$!; sleep 3; kill -INT $pid; sleep 0.1; kill -TERM $pid; wait $pid";
    const int status = std::system(command.c_str());
    CHECK(WEXITSTATUS(status) == 130);
    CHECK_MESSAGE(contains(content(err), "of 41 points are finished"), content(err));
    const nlohmann::json document = nlohmann::json::parse(content(out));
    CHECK(document["points"].size() >= 1);
    CHECK(document["points"].size() < 41);
  }

  TEST_CASE("compare ranks strategies and gives a reason") {
    const Outcome outcome = gpuscale_with(
        "compare --format json --strategies data,model,model+int8 workloads/scenarios/dense-2019-desktop.yaml");
    CHECK(outcome.code == 0);
    const nlohmann::json document = nlohmann::json::parse(outcome.out);
    REQUIRE(document["points"].size() == 3);
    CHECK(document["points"][0]["rank"] == 1);
    CHECK(document["points"][0]["relative"] == 1.0);
    CHECK(document["points"][2]["throughput_samples_per_s"] <= document["points"][1]["throughput_samples_per_s"]);
    CHECK(contains(document["verdict"], " wins "));
  }

  TEST_CASE("lists are complete and readable by programs") {
    const Outcome all = gpuscale_with("list --format json");
    CHECK(all.code == 0);
    CHECK(all.err == "");
    const nlohmann::json document = nlohmann::json::parse(all.out);
    for (const char* kind :
         {"gpus", "links", "machines", "fabrics", "models", "frameworks", "transports", "scenarios"}) {
      CAPTURE(kind);
      CHECK(document[kind].size() > 0);
      for (const nlohmann::json& row : document[kind]) CHECK(row["name"].is_string());
    }
    CHECK(contains(gpuscale_with("list").out, "resnet50"));
  }

  TEST_CASE("the schema is a JSON Schema with the keys of a scenario") {
    const nlohmann::json schema = nlohmann::json::parse(gpuscale_with("schema --format json").out);
    CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
    CHECK(schema["properties"]["workload"]["properties"].contains("batch"));
    CHECK(schema["properties"]["strategy"]["additionalProperties"] == false);
    CHECK(contains(gpuscale_with("schema strategy.exchange").out, "strategy.exchange.codec"));
  }

  TEST_CASE("a reader that goes away is no crash and a full disk is an error") {
    CHECK(gpuscale_with("list gpus --format csv | head -1").code == 0);
    if (fs::exists("/dev/full")) {
      const std::string command = std::string("cd '") + GPUSCALE_SOURCE_DIR + "'; GPUSCALE_PATH=. '" +
                                  GPUSCALE_PROGRAM + "' run -q " + kQuickstart + " > /dev/full 2> /dev/null";
      CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
    }
  }
}
