#include "scenario/scenario.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "scenario/schema.hpp"

using namespace gpuscale;

namespace {

namespace fs = std::filesystem;

fs::path tests() { return fs::path(GPUSCALE_SOURCE_DIR) / "tests"; }
Library test_library() { return Library({tests() / "golden" / "errors" / "library"}); }
fs::path seed(const std::string& name) { return tests() / "fuzz" / "corpus" / "scenario" / name; }

constexpr const char* kSmall =
    "workload: {model: resnet50, batch: 64 per gpu}\n"
    "cluster: {machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}\n"
    "framework: pytorch-ddp\n";

Scenario small(const std::vector<Setting>& settings = {}) {
  return ScenarioFile::parse(kSmall, "small.yaml").resolve(test_library(), settings);
}

std::string errors(const std::string& text, const std::vector<Setting>& settings = {}) {
  try {
    static_cast<void>(ScenarioFile::parse(text, "s.yaml").resolve(test_library(), settings));
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE("scenario") {
  TEST_CASE("a small scenario has the defaults of the schema") {
    const Scenario scenario = small();
    CHECK(scenario.name == "small");
    CHECK(scenario.job.batch == BatchSpec{64, true});
    CHECK(scenario.job.precision == Precision::fp32);
    CHECK(scenario.job.optimizer == Optimizer::sgd_momentum);
    CHECK(scenario.job.parallel == ParallelConfig{});
    CHECK(!scenario.job.transfer);
    CHECK(!scenario.job.input);
    CHECK(scenario.cluster.nodes == 1);
    CHECK(scenario.cluster.placement == Placement::packed);
    CHECK(!scenario.cluster.fabric);
  }

  TEST_CASE("every key of a scenario reaches its field") {
    const Scenario scenario = load_scenario(seed("full.yaml"), test_library());
    const Job& job = scenario.job;
    CHECK(scenario.name == "everything at once");
    CHECK(job.optimizer == Optimizer::adamw);
    CHECK(job.calibrated_throughput == 207.0);
    CHECK(scenario.cluster.placement == Placement::spread);
    REQUIRE(scenario.cluster.fabric);
    CHECK(scenario.cluster.fabric->link.id == "fdr-infiniband");
    CHECK(scenario.cluster.fabric->switch_latency.count() == doctest::Approx(170e-9).epsilon(1e-12));
    CHECK(job.parallel.data == 0);
    CHECK(job.parallel.model == ModelSplitConfig{2, 64, CodecKind::int8});
    CHECK(job.parallel.exchange.algorithm == ExchangeAlgorithm::ring);
    CHECK(job.parallel.exchange.bucket == 25_MiB);
    CHECK(job.parallel.exchange.overlap == true);
    CHECK(job.parallel.exchange.codec == CodecKind::one_bit);
    REQUIRE(job.input);
    CHECK(job.input->bytes_per_sample == 110_kB);
    CHECK(job.input->decode_per_core == 250.0);
    CHECK(job.input->cores == 16);
    CHECK(job.input->storage == BytesPerSecond(500e6));
    CHECK(job.framework.exchange.first_bucket == 1_MiB);
    CHECK(job.framework.base_memory == 800_MiB);
  }

  TEST_CASE("a scenario may carry all its data with it") {
    const Scenario scenario = load_scenario(seed("inline.yaml"), test_library());
    CHECK(scenario.job.batch == BatchSpec{256, false});
    CHECK(scenario.job.sequence == 20);
    CHECK(scenario.job.model.id == "inline");
    CHECK(scenario.job.model.layers.size() == 4);
    CHECK(scenario.cluster.gpu.multiprocessors == 28);
    CHECK(scenario.cluster.gpu.memory_size == 11_GiB * (15.0 / 16.0));
    CHECK(scenario.cluster.gpu.fast_memory_size == 10_GiB);
    CHECK(scenario.job.framework.transport.one_process);
    CHECK(rate_at(scenario.cluster.gpu.matrix, Precision::fp16) == FlopPerSecond(100e12));
    CHECK(scenario.cluster.gpu.nvlink == LinkChoice{"nvlink-2", 2});
    CHECK(scenario.job.framework.host.shared);
    CHECK(scenario.job.framework.host.replica.count() == doctest::Approx(3e-3));
    CHECK(scenario.job.framework.host.replica_tensor.count() == doctest::Approx(60e-6));
    CHECK(scenario.job.framework.exchange.bucket == 0_B);
    CHECK(scenario.job.framework.fused_attention);
    CHECK(scenario.job.framework.convolution ==
          ConvolutionHabit{.channels_first = true, .channels_last = true, .workspace = Bytes(64.0 * 1024 * 1024)});
    CHECK(scenario.job.framework.exchange.owner == TensorOwner::largest_first);
    CHECK(scenario.job.framework.exchange.servers == BoxServers{.split_from = 1000,
                                                                .per_box = 2,
                                                                .in_turn = true,
                                                                .each_gpu = true,
                                                                .message_rate = BytesPerSecond(900e6)});
    CHECK(scenario.job.framework.feed == BytesPerSecond(1.7e9));
    CHECK(scenario.cluster.gpu.own_host == 0.5);
    const WrittenOut gelu{.forward = 18,
                          .backward = 26,
                          .forward_wide = 4,
                          .casts = 2,
                          .forward_kernels = 8,
                          .backward_kernels = 10,
                          .kept = 2};
    CHECK(scenario.job.framework.written_out == WrittenOutOperators{.gelu = gelu});
    CHECK(update_habit(scenario.job.framework, Optimizer::adamw) ==
          UpdateHabit{.fused = true, .written_out = WrittenOutUpdate{.passes = 42, .kernels = 19}});
    CHECK_FALSE(update_habit(scenario.job.framework, Optimizer::adam).written_out);
    CHECK(scenario.cluster.machine.devices.size() == 7);
  }

  TEST_CASE("two ranges of a link pair up and a range beside a device joins each") {
    const Scenario scenario = load_scenario(seed("inline.yaml"), test_library());
    std::vector<std::string> links;
    for (const ConnectionSpec& link : scenario.cluster.machine.connections) {
      links.push_back(link.from + "-" + link.to + " " + link.type.id + " x" + std::to_string(link.lanes));
    }
    CHECK(links == std::vector<std::string>{"cpu0-memory0 ddr4-2666 x4", "sw0-cpu0 pcie-3 x16", "sw1-cpu0 pcie-3 x16",
                                            "gpu0-sw0 pcie-3 x16", "gpu1-sw1 pcie-3 x16", "nic0-sw0 pcie-3 x8",
                                            "gpu0-gpu1 nvlink-2 x2"});
  }

  TEST_CASE("a block is written out with its parameters") {
    const Scenario scenario = load_scenario(seed("inline.yaml"), test_library());
    const auto& translation = std::get<EncoderDecoderLayer>(scenario.job.model.layers[0].layer);
    const auto& residual = std::get<ResidualLayer>(translation.decoder.back().layer);
    REQUIRE(residual.body.size() == 1);
    CHECK(residual.body[0].name == "piece");
    const auto& group = std::get<GroupLayer>(residual.body[0].layer);
    REQUIRE(group.layers.size() == 2);
    CHECK(std::get<LinearLayer>(group.layers[0].layer).out == 64);
  }

  TEST_CASE("a convolution takes both sides apart and same padding") {
    const Scenario scenario = load_scenario(seed("conv.yaml"), test_library());
    const auto& layer = std::get<ConvolutionLayer>(scenario.job.model.layers[0].layer);
    CHECK(layer.kernel == Extent{3, 5});
    CHECK(layer.stride == Extent{2, 2});
    CHECK(layer.same_padding);
    CHECK(!layer.bias);
  }

  TEST_CASE("a cluster file gives what the scenario leaves out") {
    const Scenario scenario = load_scenario(seed("conv.yaml"), test_library());
    CHECK(scenario.cluster.nodes == 2);
    CHECK(scenario.cluster.gpus == 4);
    CHECK(scenario.cluster.machine.id == "node-2x");
    CHECK(scenario.cluster.fabric.has_value());
    const Scenario other = load_scenario(seed("conv.yaml"), test_library(), {{"cluster.gpu", "v100-sxm2"}});
    CHECK(other.cluster.gpu.id == "v100-sxm2");
  }

  TEST_CASE("a card in a faster slot runs at its own speed") {
    const Scenario scenario =
        small({{"cluster.gpu",
                "{family: pascal, peak: {fp32: 10 TFLOP/s}, memory: {size: 8 GiB, bandwidth: 400 GB/s, "
                "l2: 2 MiB}, multiprocessors: 20, clock: {base: 1 GHz, boost: 1 GHz}, "
                "host_bus: pcie-3 x4, power: {limit: 200 W, idle: 9 W}}"}});
    for (const ConnectionSpec& link : scenario.cluster.machine.connections) {
      if (link.type.id == "pcie-3") CHECK(link.lanes == 4);
    }
    CHECK(small().cluster.machine.connections.back().lanes == 8);
  }

  TEST_CASE("settings are written over the file and maps are made for them") {
    const Scenario scenario = small({{"cluster.gpus", "2"},
                                     {"strategy.exchange", "{codec: top-k, bucket: 4 MiB}"},
                                     {"strategy.exchange.bucket", "8 MiB"},
                                     {"name", "\"a: b\""}});
    CHECK(scenario.name == "a: b");
    CHECK(scenario.cluster.gpus == 2);
    CHECK(scenario.job.parallel.exchange.codec == CodecKind::top_k);
    CHECK(scenario.job.parallel.exchange.bucket == 8_MiB);
    CHECK(scenario.settings.size() == 4);
  }

  TEST_CASE("what is wrong with a setting has the place it was written at") {
    const auto first_place = [](const Setting& setting) {
      try {
        static_cast<void>(small({setting}));
      } catch (const ScenarioError& error) {
        return to_text(error.problems().front()).substr(0, to_text(error.problems().front()).find(": error"));
      }
      return std::string("no problem");
    };
    CHECK(first_place({"cluster.gpus", "two"}) == "--set cluster.gpus");
    CHECK(first_place({"cluster.gpus", "two", {"--sweep cluster.gpus", 0, 0}}) == "--sweep cluster.gpus");
    CHECK(first_place({"cluster.gpus", "[", {"job.yaml", 7, 3}}) == "job.yaml:7:3");
    CHECK(first_place({"strategy.exchange", "{codec: int9}", {"job.yaml", 7, 3}}) == "job.yaml:7:3");
  }

  TEST_CASE("keys that are sound and do not go together are told from mistakes") {
    CHECK_THROWS_AS(small({{"cluster.gpus", "99"}}), UnfitScenario);
    try {
      static_cast<void>(small({{"cluster.gpus", "99"}, {"strategy.exchange.codec", "int9"}}));
      FAIL("no error");
    } catch (const UnfitScenario&) {
      FAIL("a misspelt codec is a mistake");
    } catch (const ScenarioError& error) {
      CHECK(error.problems().size() >= 1);
    }
  }

  TEST_CASE("an axis of a file knows its line") {
    const ScenarioFile file = ScenarioFile::parse("sweep:\n  cluster.gpus: [1, 2]\n", "job.yaml");
    CHECK(file.sweep()[0].origin == Place{"job.yaml", 2, 3});
  }

  TEST_CASE("a sweep keeps the order and the text of its values") {
    const ScenarioFile file = ScenarioFile::open(seed("full.yaml"));
    REQUIRE(file.sweep().size() == 2);
    CHECK(file.sweep()[0] == SweepAxis{"cluster.gpus", {"1", "2", "3", "4"}});
    CHECK(file.sweep()[1] == SweepAxis{"strategy.exchange", {"{codec: none}", "{codec: int8, bucket: 4 MiB}"}});
    const Scenario point = file.resolve(test_library(), {{"strategy.exchange", file.sweep()[1].values[1]}});
    CHECK(point.job.parallel.exchange.codec == CodecKind::int8);
  }

  TEST_CASE("a transfer needs no batch") {
    const Scenario scenario = load_scenario(seed("transfer.yaml"), test_library());
    REQUIRE(scenario.job.transfer);
    CHECK(scenario.job.transfer->numbers == 1048576);
    CHECK(scenario.job.model.layers.empty());
  }

  TEST_CASE("data files that were used are told once with their dates") {
    const std::vector<std::string> provenance = small().provenance;
    CHECK(std::ranges::count(provenance, "topologies/gpus/gtx-1080-ti.yaml (2026-11-30): test data") == 1);
    CHECK(std::ranges::count(provenance, "topologies/links/pcie-3.yaml (2026-11-30): test data") == 1);
    CHECK(std::ranges::count(provenance, "workloads/models/resnet50.yaml: test data") == 1);
  }

  TEST_CASE("paths count from the file that names them") {
    const fs::path folder = fs::temp_directory_path() / "gpuscale-scenario-test";
    fs::create_directories(folder / "cards");
    fs::copy_file(tests() / "golden" / "errors" / "library" / "topologies" / "gpus" / "gtx-1080-ti.yaml",
                  folder / "cards" / "mine.yaml", fs::copy_options::overwrite_existing);
    const std::string text =
        "workload: {model: resnet50, batch: 64 per gpu}\n"
        "cluster: {machine: workstation-4x-pcie3-x8, gpu: cards/mine.yaml, gpus: 4}\n"
        "framework: pytorch-ddp\n";
    const Scenario scenario = ScenarioFile::parse(text, (folder / "s.yaml").string()).resolve(test_library(), {});
    CHECK(scenario.cluster.gpu.id == "mine");
    CHECK(scenario.cluster.gpu.name == "GeForce GTX 1080 Ti");
    fs::remove_all(folder);
  }

  TEST_CASE("a file that cannot be read is an error with its name") {
    CHECK_THROWS_WITH_AS(ScenarioFile::open("/no/such/file.yaml"), "/no/such/file.yaml: error: there is no such file",
                         ScenarioError);
    CHECK_THROWS_WITH_AS(ScenarioFile::open("/tmp"), "/tmp: error: is a folder; name a file in it", ScenarioError);
  }

  TEST_CASE("a model that grows without end is refused") {
    std::string text =
        "workload:\n  batch: 1 per gpu\n  model:\n    family: dense\n    input: {features: 8}\n    blocks:\n"
        "      b0: {parameters: [], layers: [relu, relu, relu, relu, relu, relu, relu, relu, relu, relu]}\n";
    for (int i = 1; i < 12; ++i) {
      text += "      b" + std::to_string(i) + ": {parameters: [], layers: [";
      for (int k = 0; k < 10; ++k)
        text += (k > 0 ? ", " : "") + std::string("{use: {block: b") + std::to_string(i - 1) + "}}";
      text += "]}\n";
    }
    text +=
        "    layers: [{use: {block: b11}}]\n"
        "cluster: {machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}\nframework: pytorch-ddp\n";
    CHECK(errors(text).find("the model has more than 100000 layers") != std::string::npos);
  }

  TEST_CASE("no more than a hundred problems are told") {
    std::string text = kSmall;
    for (int i = 0; i < 500; ++i) text += "key" + std::to_string(i) + ": 1\n";
    try {
      static_cast<void>(ScenarioFile::parse(text, "s.yaml").resolve(test_library(), {}));
      FAIL("no error");
    } catch (const ScenarioError& error) {
      CHECK(error.problems().size() == 101);
    }
  }

  TEST_CASE("points of a sweep can be resolved on several threads") {
    const ScenarioFile file = ScenarioFile::open(seed("full.yaml"));
    const Library library = test_library();
    std::vector<int> gpus(4, 0);
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < gpus.size(); ++i) {
        threads.emplace_back([&, i] {
          for (int k = 0; k < 10; ++k) gpus[i] = file.resolve(library, {{"strategy.model", "1"}}).cluster.gpus;
        });
      }
    }
    CHECK(gpus == std::vector<int>{4, 4, 4, 4});
  }

  TEST_CASE("the schema lists the keys that are read and no others") {
    std::set<std::string> asked;
    for (const char* name :
         {"full.yaml", "inline.yaml", "conv.yaml", "transfer.yaml", "fabric-leaf-spine.yaml", "fabric-rails.yaml",
          "fabric-fat-tree.yaml", "fabric-torus.yaml", "fabric-dragonfly.yaml", "fabric-graph.yaml"}) {
      CAPTURE(name);
      static_cast<void>(ScenarioFile::open(seed(name)).resolve(test_library(), {}, &asked));
    }
    std::set<std::string> listed;
    for (const SchemaKey& key : scenario_schema()) {
      CHECK(listed.insert(std::string(key.path)).second);
      CHECK(!key.type.empty());
      CHECK(!key.default_value.empty());
      CHECK(!key.meaning.empty());
    }
    for (const std::string& path : asked) {
      CAPTURE(path);
      CHECK(listed.contains(path));
    }
    for (const std::string& path : listed) {
      CAPTURE(path);
      CHECK(asked.contains(path));
    }
  }
}
