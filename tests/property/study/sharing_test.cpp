// The rules of sharing that decide purchases, on shipped machines: which of two placements is slower.

#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/simulate.hpp"
#include "topology/cluster.hpp"

using namespace gpuscale;

namespace {

const Library& shipped() {
  static const Library library({GPUSCALE_SOURCE_DIR});
  return library;
}

using Settings = std::vector<Setting>;

Cluster machine(const std::string& name, const std::string& gpu, int gpus, Settings settings = {}) {
  settings.push_back({"cluster.machine", name});
  settings.push_back({"cluster.gpu", gpu});
  settings.push_back({"cluster.gpus", std::to_string(gpus)});
  const ScenarioFile file = ScenarioFile::parse(
      "{workload: {transfer: {numbers: 1000}}, cluster: {machine: -, gpu: -, gpus: 2}, framework: pytorch-ddp}",
      "test.yaml");
  return build_cluster(file.resolve(shipped(), settings).cluster);
}

using Copies = std::vector<std::pair<std::size_t, std::size_t>>;

/// The rate of copies that move at one pace, with nothing but links to hold them.
BytesPerSecond pace(const Cluster& cluster, const Copies& copies) {
  std::map<ChannelId, double> loads;
  for (const auto& [from, to] : copies) {
    for (const ChannelId channel : cluster.topology.route(cluster.ranks[from], cluster.ranks[to]).channels)
      loads[channel] += 1.0;
  }
  BytesPerSecond slowest(std::numeric_limits<double>::infinity());
  for (const auto& [channel, load] : loads)
    slowest = std::min(slowest, cluster.topology.channels()[channel.index()].rate / load);
  return slowest;
}

double ratio(BytesPerSecond a, BytesPerSecond b) { return a / b; }

Copies both_ways(std::size_t a, std::size_t b) { return {{a, b}, {b, a}}; }

const Settings kNoPeers = {{"cluster.peer_to_peer", "false"}};

Report train(const Settings& settings) {
  const ScenarioFile file = ScenarioFile::parse(
      "{workload: {model: resnet50, batch: 32 per gpu}, cluster: {machine: rig-7x-pcie3-x1, gpu: gtx-1080-ti, gpus: 6},"
      " framework: pytorch-ddp}",
      "test.yaml");
  return simulate(file.resolve(shipped(), settings));
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("a pair below one switch without peer-to-peer is slower than a pair across sockets") {
    const Cluster box = machine("server-8x-pcie3-dual-root", "gtx-1080-ti", 8, kNoPeers);
    CHECK(pace(box, both_ways(0, 1)) < pace(box, both_ways(0, 4)));
    const Cluster with_peers = machine("server-8x-pcie3-dual-root", "gtx-1080-ti", 8);
    CHECK_FALSE(pace(with_peers, both_ways(0, 1)) < pace(with_peers, both_ways(0, 4)));
  }

  TEST_CASE("four lanes of the chipset have half the rate of eight lanes of the processor") {
    const Cluster chipset = machine("desktop-2x-pcie3-chipset-x4", "gtx-1080-ti", 2);
    const Cluster direct = machine("desktop-2x-pcie3-x8", "gtx-1080-ti", 2);
    CHECK(ratio(pace(chipset, {{0, 1}}), pace(direct, {{0, 1}})) == doctest::Approx(0.5).epsilon(1e-12));
    CHECK(chipset.topology.route(chipset.ranks[0], chipset.ranks[1]).latency >
          direct.topology.route(direct.ranks[0], direct.ranks[1]).latency);
  }

  TEST_CASE("the two dies of a K80 share their slot") {
    const Cluster box = machine("server-8x-k80-dual-root", "k80-die", 8);
    CHECK(ratio(pace(box, {{0, 4}, {1, 5}}), pace(box, {{0, 4}})) <= 0.5 + 1e-12);
    CHECK(pace(box, both_ways(0, 1)) > pace(box, {{0, 4}, {1, 5}}));
  }

  TEST_CASE("an adapter on the other socket costs latency and where it is fast rate") {
    const Settings fabric = {{"cluster.nodes", "2"}, {"cluster.fabric", "hdr-infiniband"}};
    const Cluster boxes = machine("server-8x-pcie3-dual-root", "v100-pcie", 16, fabric);
    CHECK(boxes.topology.route(boxes.ranks[4], boxes.ranks[8]).latency >
          boxes.topology.route(boxes.ranks[0], boxes.ranks[8]).latency);
    CHECK(pace(boxes, both_ways(4, 8)) < pace(boxes, both_ways(0, 8)));
  }

  TEST_CASE("GPUDirect off costs") {
    const Settings fabric = {{"cluster.nodes", "2"}, {"cluster.fabric", "hdr-infiniband"}};
    Settings off = fabric;
    off.push_back({"cluster.gpudirect", "false"});
    const Cluster with = machine("dgx-a100", "a100-sxm-80gb", 16, fabric);
    const Cluster without = machine("dgx-a100", "a100-sxm-80gb", 16, off);
    Copies all;
    for (std::size_t i = 0; i < 8; ++i) all.emplace_back(i, i + 8);
    CHECK(pace(without, all) < pace(with, all));
    CHECK(without.topology.route(without.ranks[0], without.ranks[8]).latency >
          with.topology.route(with.ranks[0], with.ranks[8]).latency);
  }

  TEST_CASE("all staged copies share the host memory") {
    const Cluster box = machine("workstation-4x-pcie3-x16", "gtx-1080-ti", 4, kNoPeers);
    const Copies ring = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
    CHECK(pace(box, ring) < pace(box, {{0, 1}}));
    const Cluster with_peers = machine("workstation-4x-pcie3-x16", "gtx-1080-ti", 4);
    CHECK(pace(with_peers, ring) == pace(with_peers, {{0, 1}}));
  }

  TEST_CASE("a root complex passes peer traffic at a limited rate") {
    const Cluster limited = machine("server-4x-pcie3-dual-root", "gtx-titan", 4);
    const Cluster free = machine("workstation-4x-pcie3-x16", "gtx-titan", 4);
    CHECK(pace(limited, {{0, 1}}) == BytesPerSecond(6e9));
    CHECK(pace(limited, both_ways(0, 1)) == BytesPerSecond(3e9));
    CHECK(pace(free, both_ways(0, 1)) > BytesPerSecond(6e9));
  }

  TEST_CASE("risers of one lane ruin gradient exchange and leave independent jobs alone") {
    const Settings wide = {{"cluster.machine", "server-8x-pcie3-single-root"}};
    const Report on_risers = train({});
    const Report in_slots = train(wide);
    CHECK(on_risers.step_time > 1.5 * in_slots.step_time);
    const auto independent = [](Settings settings) {
      settings.push_back({"strategy.independent", "true"});
      return train(settings);
    };
    CHECK(independent({}).step_time == independent(wide).step_time);
  }
}
