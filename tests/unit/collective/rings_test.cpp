#include "collective/rings.hpp"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>

#include "collective/rank_group.hpp"
#include "execution/execute.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr double kBrick = 22.5e9;

/// The NVLink mesh of a DGX-1 with V100 (NVIDIA WP-08437-002, figure 4), and a PCIe switch for the rest.
Topology cube_mesh() {
  struct Edge {
    std::size_t a, b;
    int bricks;
  };
  constexpr std::array<Edge, 16> kEdges = {{{0, 1, 1},
                                            {0, 2, 1},
                                            {0, 3, 2},
                                            {1, 2, 2},
                                            {1, 3, 1},
                                            {2, 3, 1},
                                            {4, 5, 1},
                                            {4, 6, 1},
                                            {4, 7, 2},
                                            {5, 6, 2},
                                            {5, 7, 1},
                                            {6, 7, 1},
                                            {0, 4, 2},
                                            {1, 5, 2},
                                            {2, 6, 2},
                                            {3, 7, 2}}};
  TopologyBuilder builder;
  const DeviceId hub = builder.add({.name = "switch", .kind = DeviceKind::pcie_switch});
  std::vector<DeviceId> gpus;
  for (int i = 0; i < 8; ++i) {
    gpus.push_back(builder.add({.name = "gpu" + std::to_string(i), .peer_to_peer = true}));
    builder.connect(gpus.back(), hub, link_type(12_GBps, 1_us), 1);
  }
  for (const Edge& edge : kEdges) {
    builder.connect(gpus[edge.a], gpus[edge.b], link_type(BytesPerSecond(kBrick), 1_us, "nvlink"), edge.bricks);
  }
  return std::move(builder).build();
}

BytesPerSecond ring_rate(const Topology& topology, std::size_t ranks) {
  PlanBuilder plan;
  std::vector<Participant> all = participants_of(topology, plan);
  all.resize(ranks);
  const RankGroup group(topology, std::move(all), Transport(), &plan_time);
  const Hops& hops = group.hops(group.ring(), Protocol::simple);
  double rate = hops.cap.count();
  for (const ChannelLoad& load : hops.loads) {
    rate = std::min(rate, topology.channels()[load.channel.index()].rate.count() / load.weight);
  }
  return BytesPerSecond(rate);
}

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("one search serves all groups that are joined alike") {
    const Topology machine = cube_mesh();
    RingFinder finder;
    for (const std::vector<std::size_t>& ranks :
         std::vector<std::vector<std::size_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 2, 3, 4}, {0, 3, 4, 7}}) {
      std::vector<DeviceId> gpus;
      for (const std::size_t rank : ranks) gpus.push_back(machine.gpus()[rank]);
      CHECK(finder.rings(machine, gpus) == find_rings(machine, gpus));
    }
  }

  TEST_CASE("eight GPUs of a DGX-1 exchange over all six links of each") {
    const Topology box = cube_mesh();
    CHECK(find_rings(box, box.gpus()).size() == 6);
    CHECK(ring_rate(box, 8).count() == doctest::Approx(6 * kBrick).epsilon(1e-12));
  }

  TEST_CASE("four GPUs of a DGX-1 exchange over the four links each has within their half") {
    CHECK(ring_rate(cube_mesh(), 4).count() == doctest::Approx(4 * kBrick).epsilon(1e-12));
  }

  TEST_CASE("two GPUs use every brick between them") {
    CHECK(ring_rate(cube_mesh(), 2).count() == doctest::Approx(1 * kBrick).epsilon(1e-12));
  }

  TEST_CASE("without NVLink there is one ring in rank order") {
    const Topology box = star_of(4, 12_GBps);
    const Ring in_order = {{.from = 0, .to = 1}, {.from = 1, .to = 2}, {.from = 2, .to = 3}, {.from = 3, .to = 0}};
    CHECK(find_rings(box, box.gpus()) == std::vector<Ring>{in_order});
  }

  TEST_CASE("three GPUs of a DGX-1 exchange over one link each way") {
    // 0-1 and 0-2 are single links: one ring each way round.
    CHECK(ring_rate(cube_mesh(), 3).count() == doctest::Approx(2 * kBrick).epsilon(1e-12));
  }

  TEST_CASE("the fifth GPU of a DGX-1 joins over the links of its partner") {
    // GPU 4 has links to GPU 0 alone, two of them: there and, by way of GPU 0, on.
    const Topology box = cube_mesh();
    const std::vector<Ring> rings = find_rings(box, box.gpus().first(5));
    CHECK(rings.size() == 2);
    CHECK(std::ranges::any_of(rings.front(), [](const Leg& leg) { return leg.relay == 0; }));
    CHECK(ring_rate(box, 5).count() == doctest::Approx(2 * kBrick).epsilon(1e-12));
  }
}
