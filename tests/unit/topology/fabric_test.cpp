#include "topology/fabric.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>

#include "topology/cluster.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// Boxes of one card behind each adapter: cpu0 with gpu0, nic0 and so on.
ClusterSpec boxes_of(int nodes, int adapters, FabricSpec fabric) {
  ClusterSpec spec;
  spec.machine.devices = {{.name = "cpu0", .kind = DeviceKind::cpu}};
  for (int i = 0; i < adapters; ++i) {
    const std::string number = std::to_string(i);
    spec.machine.devices.push_back({.name = "plx" + number, .kind = DeviceKind::pcie_switch});
    spec.machine.devices.push_back({.name = "gpu" + number});
    spec.machine.devices.push_back({.name = "nic" + number, .kind = DeviceKind::nic});
    for (const char* end : {"cpu0", "gpu", "nic"}) {
      const std::string name = end == std::string("cpu0") ? end : end + number;
      spec.machine.connections.push_back({.from = "plx" + number, .to = name, .type = link_type(100_GBps, 0_us)});
    }
  }
  spec.nodes = nodes;
  spec.gpus = nodes * adapters;
  fabric.link = link_type(10_GBps, 1_us, "infiniband");
  spec.fabric = std::move(fabric);
  return spec;
}

/// Network links on the way between two ranks.
std::size_t network_links(const Cluster& cluster, std::size_t from, std::size_t to) {
  const Route& route = cluster.topology.route(cluster.ranks[from], cluster.ranks[to]);
  return static_cast<std::size_t>(std::ranges::count_if(
      route.links, [&](LinkId link) { return cluster.topology.links()[link.index()].kind == "infiniband"; }));
}

/// How often the most used channel is used when every `step`th rank sends to the one `shift` ranks on.
int most_used(const Cluster& cluster, std::size_t shift, std::size_t step = 1) {
  std::map<ChannelId, int> uses;
  for (std::size_t i = 0; i < cluster.ranks.size(); i += step) {
    const std::size_t to = (i + shift) % cluster.ranks.size();
    for (const ChannelId channel : cluster.topology.route(cluster.ranks[i], cluster.ranks[to]).channels)
      ++uses[channel];
  }
  int most = 0;
  for (const auto& [channel, count] : uses) most = std::max(most, count);
  return most;
}

std::ptrdiff_t switches(const Cluster& cluster) {
  return std::ranges::count(cluster.topology.devices(), DeviceKind::network_switch, &Device::kind);
}

std::string problem_of(const ClusterSpec& spec) {
  const std::vector<Problem> problems = fabric_problems(spec);
  return problems.empty() ? "" : problems.front().text;
}

}  // namespace

TEST_SUITE("topology") {
  TEST_CASE("a leaf has as many uplinks as its oversubscription leaves") {
    for (const auto& [oversubscription, uplinks] : {std::pair{1.0, 8}, std::pair{2.0, 4}, std::pair{3.0, 3}}) {
      CAPTURE(oversubscription);
      const Cluster cluster = build_cluster(
          boxes_of(16, 1, {.kind = FabricKind::leaf_spine, .oversubscription = oversubscription, .leaf_ports = 8}));
      CHECK(switches(cluster) == 2 + uplinks);
      CHECK(network_links(cluster, 0, 1) == 2);
      CHECK(network_links(cluster, 0, 8) == 4);
      CHECK(most_used(cluster, 8) == (8 + uplinks - 1) / uplinks);
    }
  }

  TEST_CASE("a fat tree of k ports joins k^3 / 4 adapters by 5/4 k^2 switches") {
    const Cluster cluster = build_cluster(boxes_of(128, 1, {.kind = FabricKind::fat_tree, .ports = 8}));
    CHECK(switches(cluster) == 80);
    CHECK(network_links(cluster, 0, 1) == 2);    // one edge switch
    CHECK(network_links(cluster, 0, 4) == 4);    // one pod
    CHECK(network_links(cluster, 0, 127) == 6);  // over a core
  }

  TEST_CASE("no shift of all ranks loads a link of a fat tree twice") {
    const Cluster cluster = build_cluster(boxes_of(128, 1, {.kind = FabricKind::fat_tree, .ports = 8}));
    for (std::size_t shift = 1; shift < 128; ++shift) {
      CAPTURE(shift);
      CHECK(most_used(cluster, shift) == 1);
    }
  }

  TEST_CASE("no shift of all ranks loads a link of a fat tree twice where its edges cut boxes") {
    // Edges of 4 adapters and boxes of 3: an edge begins at the first, the second or the third adapter of a box.
    const Cluster cluster = build_cluster(boxes_of(32, 3, {.kind = FabricKind::fat_tree, .ports = 8}));
    for (std::size_t shift = 1; shift < 96; ++shift) {
      CAPTURE(shift);
      CHECK(most_used(cluster, shift) == 1);
    }
  }

  TEST_CASE("one adapter of every box spreads as well as all do") {
    const Cluster cluster =
        build_cluster(boxes_of(16, 4, {.kind = FabricKind::leaf_spine, .leaf_ports = 16, .spines = 16}));
    CHECK(most_used(cluster, 16) == 1);
    CHECK(most_used(cluster, 16, 4) == 1);
  }

  TEST_CASE("hashed transfers collide and the seed decides where") {
    ClusterSpec spec = boxes_of(128, 1, {.kind = FabricKind::fat_tree, .ports = 8});
    spec.equal_cost = EqualCostSpec{.collisions = true, .seed = 7};
    const Cluster cluster = build_cluster(spec);
    CHECK(most_used(cluster, 64) > 1);
    const auto way = [&](const Cluster& of) { return of.topology.route(of.ranks[3], of.ranks[90]).links; };
    CHECK(way(build_cluster(spec)) == way(cluster));
    int others = 0;
    for (std::uint64_t seed = 8; seed < 16; ++seed) {
      spec.equal_cost->seed = seed;
      others += way(build_cluster(spec)) != way(cluster) ? 1 : 0;
    }
    CHECK(others > 0);
  }

  TEST_CASE("rails meet below one leaf and other rails over a spine") {
    const Cluster cluster = build_cluster(boxes_of(8, 4, {.kind = FabricKind::rail_optimised, .leaf_boxes = 8}));
    CHECK(network_links(cluster, 1, 4 * 5 + 1) == 2);
    CHECK(network_links(cluster, 1, 4 * 5 + 2) == 4);
    CHECK(most_used(cluster, 4) == 1);
  }

  TEST_CASE("a torus goes the shorter way round each dimension") {
    FabricSpec torus{.kind = FabricKind::torus, .size = {4, 6}, .block = {1, 1}};
    const Cluster wrapped = build_cluster(boxes_of(24, 1, torus));
    CHECK(network_links(wrapped, 0, 1) == 1);
    CHECK(network_links(wrapped, 0, 5) == 1);      // round the end
    CHECK(network_links(wrapped, 0, 6 * 3) == 1);  // the same in the first dimension
    CHECK(network_links(wrapped, 0, 6 + 3) == 4);  // one and three
    torus.wrap = false;
    const Cluster mesh = build_cluster(boxes_of(24, 1, torus));
    CHECK(network_links(mesh, 0, 5) == 5);
    CHECK(mesh.topology.torus().size == std::vector<int>{4, 6});
  }

  TEST_CASE("a block of adapters lies as a block in the torus") {
    const Cluster cluster = build_cluster(boxes_of(4, 4, {.kind = FabricKind::torus, .size = {4, 4}, .block = {2, 2}}));
    // Positions by row: boxes 0 and 1 fill the first two rows, and adapter 1 of box 0 lies beside adapter 0 of box 1.
    CHECK(network_links(cluster, 1, 4) == 1);
    CHECK(network_links(cluster, 2, 8) == 1);
  }

  TEST_CASE("a dragonfly crosses at most three links between switches") {
    const Cluster cluster =
        build_cluster(boxes_of(72, 1, {.kind = FabricKind::dragonfly, .adapters = 2, .routers = 4, .global_links = 2}));
    CHECK(switches(cluster) == 36);
    for (std::size_t to = 1; to < 72; ++to) {
      CAPTURE(to);
      CHECK(network_links(cluster, 0, to) <= 5);
    }
  }

  TEST_CASE("an explicit graph is routed by the fewest links and then the least latency") {
    FabricSpec graph{.kind = FabricKind::graph, .switches = {"a", "b", "slow", "fast"}};
    const LinkType port = link_type(10_GBps, 1_us, "infiniband");
    const LinkType far = link_type(10_GBps, 9_us, "infiniband");
    graph.connections = {
        {.from = "node0.nic0", .to = "a", .type = port}, {.from = "node1.nic0", .to = "b", .type = port},
        {.from = "a", .to = "slow", .type = far},        {.from = "slow", .to = "b", .type = port},
        {.from = "a", .to = "fast", .type = port},       {.from = "fast", .to = "b", .type = port}};
    const Cluster cluster = build_cluster(boxes_of(2, 1, graph));
    CHECK(network_links(cluster, 0, 1) == 4);
    CHECK(cluster.topology.route(cluster.ranks[0], cluster.ranks[1]).latency.count() ==
          doctest::Approx(4e-6).epsilon(1e-12));
  }

  TEST_CASE("boxes that no switch joins are refused by name") {
    FabricSpec graph{.kind = FabricKind::graph, .switches = {"a", "b"}};
    const LinkType port = link_type(10_GBps, 1_us, "infiniband");
    graph.connections = {{.from = "node0.nic0", .to = "a", .type = port},
                         {.from = "node1.nic0", .to = "b", .type = port}};
    CHECK_THROWS_WITH_AS(build_cluster(boxes_of(2, 1, graph)),
                         "error: no way from node0.gpu0 to node1.gpu0; connect their machine's devices with links",
                         ScenarioError);
  }

  TEST_CASE("a rail that a box lacks is gone round") {
    FabricSpec graph{.kind = FabricKind::graph, .switches = {"rail0", "rail1"}};
    const LinkType port = link_type(10_GBps, 1_us, "infiniband");
    graph.connections = {{.from = "node0.nic0", .to = "rail0", .type = port},
                         {.from = "node0.nic1", .to = "rail1", .type = port},
                         {.from = "node1.nic1", .to = "rail1", .type = port}};
    const Cluster cluster = build_cluster(boxes_of(2, 2, graph));
    CHECK(network_links(cluster, 0, 2) == 2);  // gpu0 to gpu0 by the second adapters
  }

  TEST_CASE("numbers that do not fit a fabric are told") {
    CHECK(problem_of(boxes_of(20, 1, {.kind = FabricKind::fat_tree, .ports = 4}))
              .starts_with("a fat tree of switches with 4 ports joins 16 adapters"));
    CHECK(problem_of(boxes_of(20, 1, {.kind = FabricKind::fat_tree, .ports = 5})).starts_with("a fat tree needs"));
    CHECK(problem_of(boxes_of(5, 1, {.kind = FabricKind::torus, .size = {2, 2}, .block = {1, 1}}))
              .starts_with("a torus of 2x2 has 4 positions"));
    CHECK(problem_of(boxes_of(2, 2, {.kind = FabricKind::torus, .size = {2, 2}, .block = {1, 1}}))
              .starts_with("a 'block' of 1x1"));
    CHECK(problem_of(boxes_of(99, 1, {.kind = FabricKind::dragonfly, .adapters = 1, .routers = 2, .global_links = 1}))
              .starts_with("a dragonfly of 50 groups"));
    CHECK(problem_of(boxes_of(9, 1, {.kind = FabricKind::leaf_spine, .leaf_ports = 4, .spines = 5}))
              .starts_with("5 'spines' are more"));
    CHECK(problem_of(boxes_of(9, 1, {.kind = FabricKind::leaf_spine, .leaf_ports = 4})).empty());
  }
}
