#include "topology/box_pieces.hpp"

#include <doctest/doctest.h>

#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// A chain of three cards, gpu0 - gpu1 - gpu2, and a memory at the first.
ClusterSpec chain() {
  ClusterSpec spec;
  for (const char* name : {"gpu0", "gpu1", "gpu2"}) spec.machine.devices.push_back({.name = name});
  spec.machine.devices.push_back({.name = "memory0", .kind = DeviceKind::memory});
  const LinkType link = link_type(10_GBps, 1_us);
  spec.machine.connections = {{.from = "gpu0", .to = "gpu1", .type = link},
                              {.from = "gpu1", .to = "gpu2", .type = link},
                              {.from = "gpu0", .to = "memory0", .type = link}};
  return spec;
}

}  // namespace

TEST_SUITE("topology") {
  TEST_CASE("a card between two others does not join them") {
    const std::vector<Problem> problems = reach_problems(chain());
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().text.starts_with("no way for a copy from 'gpu0' to 'gpu2'"));
  }

  TEST_CASE("cards that need a memory are told which reaches none") {
    ClusterSpec spec = chain();
    spec.machine.connections.push_back({.from = "gpu0", .to = "gpu2", .type = link_type(10_GBps, 1_us)});
    CHECK(reach_problems(spec).empty());
    spec.peer_to_peer = false;
    REQUIRE(reach_problems(spec).size() == 1);
    CHECK(reach_problems(spec).front().text.starts_with("'gpu1' reaches no device of kind memory"));
  }

  TEST_CASE("a card behind a memory reaches no adapter") {
    ClusterSpec spec = chain();
    spec.machine.connections.push_back({.from = "gpu0", .to = "gpu2", .type = link_type(10_GBps, 1_us)});
    spec.machine.devices.push_back({.name = "nic0", .kind = DeviceKind::nic});
    spec.machine.connections.push_back({.from = "nic0", .to = "memory0", .type = link_type(10_GBps, 1_us)});
    CHECK(reach_problems(spec).empty());  // one node needs none
    spec.nodes = 2;
    REQUIRE(reach_problems(spec).size() == 1);
    CHECK(reach_problems(spec).front().text.starts_with("'gpu0' reaches no device of kind nic"));
  }
}
