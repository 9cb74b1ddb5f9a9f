// What `gpuscale topo` and `gpuscale exchange` print. GPUSCALE_UPDATE_GOLDEN=1 rewrites the texts; the
// difference is read before it is committed.

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "golden/program.hpp"

using namespace gpuscale::test;
namespace fs = std::filesystem;

namespace {

const std::string kDesktop = " --machine desktop-2x-pcie3-x16 --gpu gtx-1080-ti";
const std::string kDgx1 = " --machine dgx-1-v100 --gpu v100-sxm2";
const std::string kPlx = " --machine workstation-4x-dual-plx --gpu rtx-2080-ti";

struct Row {
  std::string arguments;
  std::string hint;
};

void check_golden(const std::string& arguments, const std::string& file) {
  CAPTURE(arguments);
  const fs::path expected = fs::path(GPUSCALE_SOURCE_DIR) / "tests/golden" / file;
  const Outcome outcome = gpuscale_with(arguments);
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  if (std::getenv("GPUSCALE_UPDATE_GOLDEN") != nullptr) std::ofstream(expected, std::ios::binary) << outcome.out;
  CHECK(outcome.out == content(expected));
}

double bus_bandwidth(const std::string& arguments) {
  const Outcome outcome = gpuscale_with("exchange -f json --bytes 256M" + arguments);
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  return nlohmann::json::parse(outcome.out)["rows"][0]["bus_bandwidth_bytes_per_s"].get<double>();
}

}  // namespace

TEST_SUITE("topo") {
  TEST_CASE("machines are described to the last digit") {
    check_golden("topo" + kDesktop, "topo/desktop.txt");
    check_golden("topo" + kDgx1, "topo/dgx-1-v100.txt");
    check_golden("topo" + kPlx + " --format csv", "topo/dual-plx.csv");
    check_golden("topo" + kDgx1 + " --nodes 8 --fabric edr-infiniband", "topo/dgx-1-v100-8-nodes.txt");
  }

  TEST_CASE("links are named as nvidia-smi names them") {
    const nlohmann::json dgx = nlohmann::json::parse(gpuscale_with("topo -f json" + kDgx1).out);
    const auto joined = [&](const std::string& from, const std::string& to) {
      for (const auto& pair : dgx["pairs"]) {
        if (pair["from"] == from && pair["to"] == to) return pair["joined"].get<std::string>();
      }
      return std::string();
    };
    CHECK(joined("gpu0", "gpu1") == "NV1");
    CHECK(joined("gpu0", "gpu3") == "NV2");
    CHECK(joined("gpu0", "gpu4") == "NV2");
    CHECK(joined("gpu0", "gpu5") == "SYS");
    CHECK(dgx["adapter_joins"][0] == nlohmann::json{{"gpu", "gpu0"}, {"adapter", "nic0"}, {"joined", "PIX"}});
    CHECK(dgx["schema_version"] == 1);
  }

  TEST_CASE("a scenario and a machine file are described as well as a name") {
    CHECK(gpuscale_with("topo workloads/scenarios/quickstart.yaml").code == 0);
    CHECK(gpuscale_with("topo topologies/machines/dgx-1-v100.yaml --gpu v100-sxm2").out ==
          gpuscale_with("topo" + kDgx1).out);
  }

  TEST_CASE("drawings are complete documents with every device") {
    const Scratch scratch;
    const fs::path svg = scratch / "dgx.svg";
    const fs::path dot = scratch / "dgx.dot";
    CHECK(gpuscale_with("topo" + kDgx1 + " --svg " + svg.string() + " --dot " + dot.string()).code == 0);
    CHECK(content(svg).starts_with("<svg xmlns="));
    CHECK(content(svg).ends_with("</svg>\n"));
    CHECK(content(dot).starts_with("graph topology {"));
    for (const char* device : {"gpu0", "gpu7", "plx3", "cpu1", "memory0", "nic2"}) {
      CAPTURE(device);
      CHECK(contains(content(svg), device));
      CHECK(contains(content(dot), device));
    }
  }

  TEST_CASE("switches of pods are drawn with the names of their pods") {
    const Scratch scratch;
    const std::string file = (scratch / "tree.dot").string();
    const Outcome outcome = gpuscale_with(
        "topo --machine dgx-a100 --gpu a100-sxm-80gb --nodes 64 --fabric hdr-fat-tree --dot '" + file + "'");
    CHECK(outcome.code == 0);
    CHECK(contains(content(file), "pod0.edge0-19, pod1.edge0-5"));
    CHECK(contains(content(file), "pod0-1.aggregation0-19"));
  }

  TEST_CASE("a cluster of 1024 GPUs is summarised in classes") {
    const Outcome outcome = gpuscale_with("topo" + kDgx1 + " --nodes 128 --fabric edr-infiniband");
    CHECK(outcome.code == 0);
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') < 100);
    CHECK(contains(outcome.out, "NET"));
  }

  TEST_CASE("hardware that makes no sense is refused with a way out") {
    for (const Row& row :
         {Row{"topo --machine dgx-1-v10 --gpu v100-sxm2", "--machine: error: unknown machine 'dgx-1-v10'"},
          Row{"topo --machine dgx-1-v100 --gpu v100-sxm22", "did you mean 'v100-sxm2'?"},
          Row{"topo" + kDesktop + " --gpus 3", "3 GPUs do not fit"},
          Row{"topo" + kDesktop + " --nodes 2 --fabric edr-infiniband", "no device of kind nic"},
          Row{"topo no-such-file.yaml", "no-such-file.yaml"}, Row{"topo --machine dgx-1-v100", "gpu"}}) {
      CAPTURE(row.arguments);
      const Outcome outcome = gpuscale_with(row.arguments);
      CHECK(outcome.code == 3);
      CHECK(outcome.out == "");
      CHECK_MESSAGE(contains(outcome.err, row.hint), outcome.err);
    }
    CHECK(gpuscale_with("topo").code == 2);
    CHECK(contains(gpuscale_with("topo").err, "--machine NAME"));
    CHECK(gpuscale_with("topo" + kDesktop + " --svg /no/such/folder/x.svg").code == 2);
  }
}

TEST_SUITE("exchange") {
  TEST_CASE("bus bandwidth is what nccl-tests call so") {
    const Outcome outcome = gpuscale_with("exchange -f json --bytes 1M" + kDgx1);
    REQUIRE(outcome.code == 0);
    const nlohmann::json row = nlohmann::json::parse(outcome.out)["rows"][0];
    const double algorithm = row["algorithm_bandwidth_bytes_per_s"].get<double>();
    CHECK(row["size_bytes"] == 1048576);
    CHECK(row["count"] == 262144);
    CHECK(algorithm == doctest::Approx(1048576 / row["time_s"].get<double>()).epsilon(1e-12));
    CHECK(row["bus_bandwidth_bytes_per_s"].get<double>() == doctest::Approx(algorithm * 2 * 7 / 8).epsilon(1e-12));
  }

  TEST_CASE("sizes may be ranges and lists with units") {
    const Outcome outcome = gpuscale_with("exchange -f csv --bytes '8..64,1K,1 MiB' --factor 2" + kDesktop);
    CHECK(outcome.code == 0);
    std::string sizes;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) sizes += line.substr(0, line.find(',')) + ' ';
    CHECK(sizes == "size_bytes 8 16 32 64 1024 1048576 ");
  }

  TEST_CASE("every collective has a table and every format one") {
    for (const char* what :
         {"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce", "send"}) {
      CAPTURE(what);
      const Outcome outcome = gpuscale_with("exchange --bytes 1M,16M --collective " + std::string(what) + kDgx1);
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
      CHECK(contains(outcome.out, "busbw, GB/s"));
    }
    CHECK(contains(gpuscale_with("exchange -f md --bytes 1M" + kDgx1).out, "| 1048576 |"));
  }

  TEST_CASE("auto is never slower than a ring and fewer ranks may be chosen") {
    CHECK(bus_bandwidth(kDgx1) >= bus_bandwidth(kDgx1 + " --algorithm ring") * 0.999);
    CHECK(bus_bandwidth(kDgx1 + " --ranks 0-3") > 0);
  }

  TEST_CASE("an exchange goes by the NCCL of the cards' time unless another is named") {
    const std::string h100 = "exchange --bytes 1M --machine dgx-h100 --gpu h100-sxm";
    CHECK(contains(gpuscale_with(h100).out, "as pytorch-2 does it"));
    CHECK(contains(gpuscale_with(h100 + " --framework pytorch-ddp").out, "as pytorch-ddp does it"));
    CHECK(contains(gpuscale_with("exchange --bytes 1M" + kDgx1).out, "as pytorch-ddp does it"));
  }

  TEST_CASE("direct copies that a scenario forbids are missed by every exchange") {
    for (const std::string& machine : {kDgx1, kPlx + " --set cluster.peer_to_peer=true"}) {
      CAPTURE(machine);
      CHECK(bus_bandwidth(machine + " --set cluster.peer_to_peer=false") < 0.9 * bus_bandwidth(machine));
    }
  }

  TEST_CASE("run and exchange call sums in switches the same and give them no protocol of links") {
    const std::string machine = "cluster.machine=dgx-h100 --set cluster.gpu=h100-sxm --set cluster.gpus=8";
    const Outcome run = gpuscale_with("run -q workloads/scenarios/quickstart.yaml --set " + machine +
                                      " --set framework=pytorch-2 --set strategy.exchange.bucket='64 MiB'");
    CHECK_MESSAGE(contains(run.out, "data parallel over 8: in_switch ("), run.out);
    CHECK_FALSE(contains(run.out, "(in_switch"));
    const Outcome table = gpuscale_with("exchange --bytes 64M --machine dgx-h100 --gpu h100-sxm");
    CHECK_MESSAGE(contains(table.out, "in_switch  none"), table.out);
  }

  TEST_CASE("sums in the network help on many boxes and sums in the box on few") {
    const std::string a100 =
        " --machine dgx-a100 --gpu a100-sxm-80gb --nodes 16 --fabric hdr-infiniband --transport nccl-2.27";
    CHECK(bus_bandwidth(a100 + "-sharp") > 1.2 * bus_bandwidth(a100));
    const std::string h100 =
        " --machine dgx-h100 --gpu h100-sxm --nodes 2 --fabric ndr-infiniband --transport nccl-2.27";
    CHECK(bus_bandwidth(h100) > bus_bandwidth(h100 + " --algorithm ring"));
  }

  TEST_CASE("questions that make no sense are refused with a way out") {
    for (const Row& row : {Row{"exchange --bytes 1G..8" + kDesktop, "goes down"},
                           Row{"exchange --bytes ten" + kDesktop, "is no message size"},
                           Row{"exchange --bytes 0" + kDesktop, "is no message size"},
                           Row{"exchange --bytes 1..1G --factor 1" + kDesktop, "--factor is a number above 1"},
                           Row{"exchange --bytes 1..1G --factor 1.0001" + kDesktop, "choose a larger --factor"},
                           Row{"exchange --collective allreduce" + kDesktop, "did you mean 'all-reduce'?"},
                           Row{"exchange --algorithm rink" + kDesktop, "did you mean 'ring'?"},
                           Row{"exchange --algorithm hierarchical" + kDesktop, "cannot do all-reduce on these GPUs"},
                           Row{"exchange --codec int9" + kDesktop, "did you mean 'int8'?"},
                           Row{"exchange --ranks 0-2" + kDesktop, "there is no rank 2"},
                           Row{"exchange --ranks 0,0" + kDesktop, "is there twice"},
                           Row{"exchange --gpus 1" + kDesktop, "at least two GPUs"}}) {
      CAPTURE(row.arguments);
      const Outcome outcome = gpuscale_with(row.arguments);
      CHECK(outcome.code == 2);
      CHECK(outcome.out == "");
      CHECK_MESSAGE(contains(outcome.err, row.hint), outcome.err);
    }
  }
}
