#include "scenario/machine_reader.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "scenario/fabric_reader.hpp"
#include "scenario/scenario.hpp"
#include "topology/cluster.hpp"

using namespace gpuscale;

namespace {

const Library& shipped() {
  static const Library library({GPUSCALE_SOURCE_DIR});
  return library;
}

/// The machine that YAML text in flow style describes.
MachineSpec machine_of(const std::string& text) {
  const std::string scenario =
      "{workload: {transfer: {numbers: 1}}, cluster: {gpu: v100-sxm2, gpus: 2, machine: " + text +
      "}, framework: pytorch-ddp}";
  return ScenarioFile::parse(scenario, "test.yaml").resolve(shipped(), {}).cluster.machine;
}

std::vector<std::string> types_between(const MachineSpec& machine, const std::string& a, const std::string& b) {
  std::vector<std::string> types;
  for (const ConnectionSpec& link : machine.connections) {
    const bool joins = (link.from == a && link.to == b) || (link.from == b && link.to == a);
    if (joins) types.push_back(link.type.id + " x" + std::to_string(link.lanes));
  }
  return types;
}

using Types = std::vector<std::string>;

YamlValue text_value(const std::string& text) {
  YamlValue value;
  value.kind = YamlKind::scalar;
  value.text = text;
  return value;
}

}  // namespace

TEST_SUITE("scenario") {
  TEST_CASE("a machine like another has its devices and links") {
    const MachineSpec first = machine_of("dgx-1-v100");
    const MachineSpec same = machine_of("{like: dgx-1-v100}");
    CHECK(same.devices.size() == first.devices.size());
    CHECK(same.connections.size() == first.connections.size());
    CHECK(same.id == "inline");
  }

  TEST_CASE("a link takes the place of one of its kind and stands beside others") {
    const MachineSpec machine = machine_of(
        "{like: dgx-1-v100, links: [{between: [gpu0, plx0], type: pcie-3 x8}, {between: [gpu3, gpu0], type: nvlink-2 "
        "x1}, "
        "{between: [gpu0, gpu1], type: pcie-3 x4}]}");
    CHECK(types_between(machine, "gpu0", "plx0") == Types{"pcie-3 x8"});
    CHECK(types_between(machine, "gpu0", "gpu3") == Types{"nvlink-2 x1"});
    CHECK(types_between(machine, "gpu0", "gpu1") == Types{"nvlink-2 x1", "pcie-3 x4"});
  }

  TEST_CASE("removed devices take their links along") {
    const MachineSpec machine =
        machine_of("{like: dgx-1-v100, remove: [\"nic[0-2]\", {between: [gpu0, gpu1]}], gpudirect: false}");
    CHECK(std::ranges::count(machine.devices, DeviceKind::nic, &DeviceSpec::kind) == 1);
    CHECK(types_between(machine, "nic0", "plx0").empty());
    CHECK(types_between(machine, "nic3", "plx3") == Types{"pcie-3 x16"});
    CHECK(types_between(machine, "gpu0", "gpu1").empty());
    CHECK_FALSE(machine.gpudirect);
  }

  TEST_CASE("a device described again keeps its links") {
    const MachineSpec machine = machine_of("{like: dgx-1-v100, devices: {cpu0: {kind: cpu, peer_rate: 5 GB/s}}}");
    const auto cpu = std::ranges::find(machine.devices, std::string("cpu0"), &DeviceSpec::name);
    REQUIRE(cpu != machine.devices.end());
    CHECK(cpu->peer_rate == BytesPerSecond(5e9));
    CHECK(types_between(machine, "cpu0", "plx0") == Types{"pcie-3 x16"});
  }

  TEST_CASE("GPUDirect off is inherited") {
    CHECK_FALSE(machine_of("aws-p3-16xlarge").gpudirect);
    CHECK_FALSE(machine_of("aws-p3dn-24xlarge").gpudirect);
    CHECK(machine_of("{like: aws-p3-16xlarge, gpudirect: true}").gpudirect);
  }

  TEST_CASE("cards of the cube meshes use all their NVLinks") {
    for (const auto& [name, links] : {std::pair{"dgx-1-p100", 4}, std::pair{"dgx-1-v100", 6}}) {
      CAPTURE(name);
      LinkTypes types;
      Reading reading(shipped());
      const MachineSpec machine = read_machine(text_value(name), "-", types, reading);
      for (int gpu = 0; gpu < 8; ++gpu) {
        int used = 0;
        for (const ConnectionSpec& link : machine.connections) {
          const std::string card = "gpu" + std::to_string(gpu);
          if (link.type.kind == "nvlink" && (link.from == card || link.to == card)) used += link.lanes;
        }
        CHECK(used == links);
      }
    }
  }

  TEST_CASE("every shipped machine and fabric is read without a problem") {
    Reading reading(shipped());
    LinkTypes types;
    for (const std::string& name : shipped().names("topologies/machines")) {
      CAPTURE(name);
      CHECK_FALSE(read_machine(text_value(name), "-", types, reading).devices.empty());
      CHECK(reading.problems().empty());
    }
    for (const std::string& name : shipped().names("topologies/fabrics")) {
      CAPTURE(name);
      CHECK(read_fabric(text_value(name), "-", types, reading).has_value());
      CHECK(reading.problems().empty());
    }
  }

  TEST_CASE("every shipped cluster can be built") {
    const ScenarioFile file = ScenarioFile::parse(
        "{workload: {transfer: {numbers: 1}}, cluster: {name: -, gpus: 2}, framework: pytorch-ddp}", "test.yaml");
    for (const std::string& name : shipped().names("topologies/clusters")) {
      CAPTURE(name);
      const Scenario scenario = file.resolve(shipped(), {{"cluster.name", name}});
      const Cluster cluster = build_cluster(scenario.cluster);
      const std::span<const DeviceId> gpus = cluster.topology.gpus();
      CHECK(cluster.topology.nodes() == scenario.cluster.nodes);
      CHECK(cluster.topology.route(gpus.front(), gpus.back()).crosses_nodes);
    }
  }

  TEST_CASE("chips of a TPU pod copy over their own links all the way") {
    const ScenarioFile file = ScenarioFile::parse(
        "{workload: {transfer: {numbers: 1}}, cluster: {name: tpu-v2-pod, gpus: 256}, framework: pytorch-ddp}",
        "test.yaml");
    const Cluster pod = build_cluster(file.resolve(shipped(), {}).cluster);
    for (const std::size_t to : {1, 4, 100, 255}) {
      CAPTURE(to);
      CHECK(pod.topology.route(pod.ranks[0], pod.ranks[to]).over_nvlink);
    }
  }
}
