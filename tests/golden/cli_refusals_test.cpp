// What the program says to what it cannot do: jobs that cannot run among others that can, command lines
// that contradict themselves, data that is not there, names that would steer a terminal.

#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/wait.h>

#include "program.hpp"

using namespace gpuscale::test;

namespace {

namespace fs = std::filesystem;

const std::string kQuickstart = "workloads/scenarios/quickstart.yaml";

/// A net with ten classes, which four GPUs cannot share by splitting its layers.
const std::string kTenClasses = R"(
workload:
  model:
    name: Ten
    family: dense
    input: {features: 64}
    layers:
      - linear: {out: 256}
      - linear: {out: 10}
      - softmax_loss
  batch: 64 global
cluster: {machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}
framework: pytorch-ddp
)";

/// Runs a copy of the program, which has no data beside it, with GPUSCALE_PATH as given.
Outcome homeless(const std::string& path, const std::string& arguments) {
  const Scratch scratch;
  fs::copy_file(GPUSCALE_PROGRAM, scratch / "gpuscale");
  const std::string command = "cd '" + (scratch / "").string() + "' && HOME=/no/home XDG_DATA_HOME= GPUSCALE_PATH='" +
                              path + "' ./gpuscale " + arguments + " > out 2> err";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(scratch / "out"), content(scratch / "err")};
}

}  // namespace

TEST_SUITE("program") {
  TEST_CASE("compare ranks what can run above what cannot") {
    const Outcome outcome = gpuscale_with("compare - --format json --strategies model,data", kTenClasses);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    const nlohmann::json document = nlohmann::json::parse(outcome.out);
    REQUIRE(document["points"].size() == 2);
    CHECK(document["points"][0]["name"] == "data");
    CHECK(document["points"][1]["name"] == "model");
    CHECK_FALSE(document["points"][1].contains("step_time_s"));
    CHECK(contains(document["points"][1]["problem"], "10"));
    CHECK(contains(document["verdict"], "it alone can run"));
    CHECK(contains(gpuscale_with("compare - --strategies model,data", kTenClasses).out, "cannot run: "));
  }

  TEST_CASE("compare fails if nothing can run and blames the strategy") {
    const Outcome outcome = gpuscale_with("compare - --strategies model,model+int8", kTenClasses);
    CHECK(outcome.code == 3);
    CHECK(outcome.out == "");
    CHECK(contains(outcome.err, "strategy 'model': error: "));
    CHECK(contains(outcome.err, "strategy 'model+int8': error: "));
    CHECK_FALSE(contains(outcome.err, "--set"));
  }

  TEST_CASE("a sweep has a row for a point that cannot run") {
    const std::string sweep = "sweep --set 'workload.batch=64 global' --sweep cluster.gpus=1,2,3,8 " + kQuickstart;
    const Outcome json = gpuscale_with(sweep + " --format json");
    CHECK(json.code == 0);
    CHECK(contains(json.err, "2 of 4 points cannot run"));
    const nlohmann::json points = nlohmann::json::parse(json.out)["points"];
    REQUIRE(points.size() == 4);
    CHECK(points[1]["throughput_samples_per_s"].is_number());
    CHECK(contains(points[2]["problem"], "does not divide over 3 replicas"));
    CHECK_FALSE(points[2].contains("throughput_samples_per_s"));
    CHECK(contains(points[3]["problem"], "8 GPUs do not fit"));
    for (const char* format : {"table", "csv", "md"}) {
      CAPTURE(format);
      const Outcome outcome = gpuscale_with(sweep + " --format " + format);
      CHECK(outcome.code == 0);
      CHECK(contains(outcome.out, "replicas"));
      CHECK(contains(outcome.out, std::string(format) == "table" ? "memory" : "problem"));
    }
  }

  TEST_CASE("a sweep without a point that can run fails") {
    const Outcome outcome = gpuscale_with("sweep --sweep cluster.gpus=8,16 " + kQuickstart);
    CHECK(outcome.code == 3);
    CHECK(outcome.out == "");
    CHECK(contains(outcome.err, "--sweep cluster.gpus: error: 8 GPUs do not fit"));
    CHECK(contains(outcome.err, "16 GPUs do not fit"));
  }

  TEST_CASE("a mistake in a sweep is blamed on what was written") {
    const Outcome line = gpuscale_with("sweep --sweep cluster.gpus=1,two " + kQuickstart);
    CHECK(line.code == 3);
    CHECK(contains(line.err, "--sweep cluster.gpus: error: "));
    const Outcome file = gpuscale_with("sweep -", kTenClasses + "sweep:\n  cluster.gpus: [1, two]\n");
    CHECK(file.code == 3);
    CHECK(contains(file.err, "standard input:15:3: error: 'two'"));
    CHECK(contains(gpuscale_with("sweep --sweep cluster.gpsu=1,2 " + kQuickstart).err, "did you mean"));
  }

  TEST_CASE("a command line that contradicts itself is a usage error") {
    const Scratch scratch;
    const std::string copy = (scratch / "job.yaml").string();
    fs::copy_file(fs::path(GPUSCALE_SOURCE_DIR) / kQuickstart, copy);
    struct Row {
      std::string arguments;
      std::string hint;
    };
    for (const Row& row :
         {Row{"sweep --set cluster.gpus=4 --sweep cluster.gpus=1,2 " + kQuickstart, "both set and swept"},
          Row{"sweep --sweep cluster.gpus=1,2 --sweep cluster.gpus=4 " + kQuickstart, "is given twice"},
          Row{"sweep --set cluster.gpus=4 --sweep 'cluster={gpus: 1}' " + kQuickstart, "would undo"},
          Row{"run -o '' " + kQuickstart, "--output needs"}, Row{"run -o " + copy + " " + copy, "would write over"},
          Row{"compare -o " + copy + " " + kQuickstart + " " + copy, "would write over"},
          Row{"sweep --jobs 0 " + kQuickstart, "from 1 to 1024"},
          Row{"sweep --jobs -1 " + kQuickstart, "from 1 to 1024"},
          Row{"sweep --jobs 1025 " + kQuickstart, "from 1 to 1024"},
          Row{"compare --strategies data+int8+fp16 " + kQuickstart, "two codecs"},
          Row{"compare --strategies data+ring+direct " + kQuickstart, "two algorithms"}, Row{"run ''", "empty"}}) {
      CAPTURE(row.arguments);
      const Outcome outcome = gpuscale_with(row.arguments);
      CHECK(outcome.code == 2);
      CHECK(outcome.out == "");
      CHECK_MESSAGE(contains(outcome.err, row.hint), outcome.err);
    }
    CHECK(content(copy) == content(fs::path(GPUSCALE_SOURCE_DIR) / kQuickstart));
  }

  TEST_CASE("a command that fails leaves no new file and an old one as it was") {
    const Scratch scratch;
    const fs::path fresh = scratch / "new.json";
    CHECK(gpuscale_with("run -o " + fresh.string() + " --set cluster.gpu=none " + kQuickstart).code == 3);
    CHECK_FALSE(fs::exists(fresh));
    CHECK(gpuscale_with("run -o " + fresh.string() + " " + kQuickstart).code == 0);
    const std::string before = content(fresh);
    CHECK(before != "");
    CHECK(gpuscale_with("run -o " + fresh.string() + " --set cluster.gpu=none " + kQuickstart).code == 3);
    CHECK(content(fresh) == before);
  }

  TEST_CASE("the name of a shipped scenario stands for its file") {
    CHECK(gpuscale_with("run -q quickstart").out == gpuscale_with("run -q " + kQuickstart).out);
    CHECK(gpuscale_with("sweep -q quickstart").code == 0);
    for (const char* word : {"quikstart", "quickstart.yaml", "some/folder/quickstart.yml"}) {
      CAPTURE(word);
      const Outcome outcome = gpuscale_with(std::string("run ") + word);
      CHECK(outcome.code == 3);
      CHECK(contains(outcome.err, "workloads/scenarios"));
      CHECK(contains(outcome.err, "did you mean 'quickstart'?"));
    }
  }

  TEST_CASE("folders of GPUSCALE_PATH without data are named") {
    const Outcome outcome = homeless(std::string("/no/such/folder:/tmp:") + GPUSCALE_SOURCE_DIR, "run -q quickstart");
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.err, "warning: '/no/such/folder' in GPUSCALE_PATH does not exist"));
    CHECK(contains(outcome.err, "warning: '/tmp' in GPUSCALE_PATH has no topologies/"));
  }

  TEST_CASE("a program without data says where it looked") {
    for (const char* arguments : {"list", "run x.yaml", "sweep x.yaml", "compare x.yaml", "validate"}) {
      CAPTURE(arguments);
      const Outcome outcome = homeless("/no/such/folder", arguments);
      CHECK(outcome.code == 3);
      CHECK(outcome.out == "");
      CHECK(contains(outcome.err, "/no/such/folder, "));
      CHECK(contains(outcome.err, "/no/home/.local/share/gpuscale"));
      CHECK(contains(outcome.err, "set GPUSCALE_PATH to"));
    }
  }

  TEST_CASE("names cannot steer a terminal") {
    const std::string scenario = "name: \"a\\e[2Jb\"\n" + kTenClasses;
    const Outcome table = gpuscale_with("run -q -", scenario);
    CHECK(table.code == 0);
    CHECK(contains(table.out, "a\\x1b[2Jb"));
    CHECK_FALSE(contains(table.out, "\x1b"));
    CHECK(contains(gpuscale_with("run -q --format csv -", scenario).out, "\"a\x1b[2Jb\""));
    const Outcome error = gpuscale_with("run \"$(printf 'x\\033[2J.yaml')\"");
    CHECK(error.code == 3);
    CHECK_FALSE(contains(error.err, "\x1b"));
  }
}
