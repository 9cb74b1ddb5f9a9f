#include "topology/cards.hpp"

#include <doctest/doctest.h>

#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

Gpu named_card(const std::string& id, bool peer_to_peer = true) {
  Gpu gpu;
  gpu.id = gpu.name = id;
  gpu.peer_to_peer = peer_to_peer;
  return gpu;
}

/// Three slots on a socket: a fast card, one that speaks an older bus on fewer lanes, and one without peer-to-peer.
ClusterSpec three_cards() {
  ClusterSpec spec;
  spec.machine.devices = {{.name = "cpu0", .kind = DeviceKind::cpu},
                          {.name = "memory0", .kind = DeviceKind::memory},
                          {.name = "gpu0"},
                          {.name = "gpu1"},
                          {.name = "gpu2"}};
  spec.machine.connections = {{.from = "cpu0", .to = "memory0", .type = link_type(40_GBps, 0_us, "memory")}};
  for (const char* gpu : {"gpu0", "gpu1", "gpu2"})
    spec.machine.connections.push_back({.from = gpu, .to = "cpu0", .type = link_type(2_GBps, 1_us), .lanes = 8});
  spec.gpu = named_card("fast");
  spec.gpu_bus = BusOfCard{.type = link_type(2_GBps, 1_us), .lanes = 16};
  spec.other_cards = {
      {.gpu = named_card("old"), .bus = BusOfCard{.type = link_type(1_GBps, 1_us), .lanes = 4}},
      {.gpu = named_card("geforce", false), .bus = BusOfCard{.type = link_type(4_GBps, 1_us), .lanes = 16}}};
  spec.card_of_slot = {{0, 1, 2}};
  spec.gpus = 3;
  return spec;
}

BytesPerSecond slot_rate(const Cluster& cluster, std::size_t rank) {
  const DeviceId memory = cluster.topology.host_memory(cluster.ranks[rank]);
  BytesPerSecond least = 1000_GBps;
  for (const ChannelId channel : cluster.topology.route(cluster.ranks[rank], memory).channels)
    least = std::min(least, cluster.topology.channels()[channel.index()].rate);
  return least;
}

}  // namespace

TEST_SUITE("topology") {
  TEST_CASE("each card runs at the slower of what it speaks and what its slot has") {
    const Cluster cluster = build_cluster(three_cards());
    CHECK(slot_rate(cluster, 0) == 16_GBps);  // eight of its sixteen lanes
    CHECK(slot_rate(cluster, 1) == 4_GBps);   // four lanes of the older bus
    CHECK(slot_rate(cluster, 2) == 16_GBps);  // a newer bus in the same slot
    CHECK(cards_of_ranks(cluster) == std::vector<std::size_t>{0, 1, 2});
  }

  TEST_CASE("the card with least memory is known whichever comes first") {
    ClusterSpec spec = three_cards();
    spec.gpu.memory_size = 24_GB;
    spec.other_cards[0].gpu.memory_size = 8_GB;
    spec.other_cards[1].gpu.memory_size = 11_GB;
    CHECK(least_memory(spec) == 8_GB);
    spec.gpu.memory_size = 6_GB;
    CHECK(least_memory(spec) == 6_GB);
  }

  TEST_CASE("cards copy directly where both may") {
    const Cluster cluster = build_cluster(three_cards());
    CHECK_FALSE(cluster.topology.route(cluster.ranks[0], cluster.ranks[1]).staged);
    CHECK(cluster.topology.route(cluster.ranks[0], cluster.ranks[2]).staged);
    CHECK(cluster.topology.route(cluster.ranks[2], cluster.ranks[1]).staged);
  }

  TEST_CASE("kinds that no rank has are forgotten and the others follow the ranks") {
    ClusterSpec spec = three_cards();
    spec.card_of_slot = {{2, 1, 0}};
    spec.gpus = 2;
    keep_cards_in_use(spec);
    CHECK(spec.gpu.id == "geforce");
    REQUIRE(spec.other_cards.size() == 1);
    CHECK(spec.other_cards.front().gpu.id == "old");
    CHECK(spec.other_cards.front().bus->lanes == 4);
    CHECK(card_at(spec, 0, 0) == 0);
    CHECK(card_at(spec, 0, 1) == 1);
    CHECK(card_at(spec, 5, 1) == 1);  // boxes begin anew
    CHECK(cards_in_words(spec) == "1x geforce + 1x old");
  }

  TEST_CASE("of one kind the slots become its bus") {
    ClusterSpec spec = three_cards();
    spec.card_of_slot = {{1, 1, 0}};
    spec.gpus = 2;
    keep_cards_in_use(spec);
    CHECK(spec.gpu.id == "old");
    CHECK(spec.other_cards.empty());
    CHECK(spec.card_of_slot.empty());
    CHECK_FALSE(spec.gpu_bus.has_value());
    CHECK(spec.machine.connections[1].lanes == 4);
    CHECK(spec.machine.connections[1].type.lane_rate == 1_GBps);
    CHECK(spec.machine.connections[0].type.lane_rate == 40_GBps);  // no slot
    CHECK(cards_in_words(spec) == "old");
  }

  TEST_CASE("one card alone has its own bus and no neighbours") {
    ClusterSpec spec = three_cards();
    spec.other_cards.front().cooling = Cooling{.cooler = Cooler::water, .neighbours = 2};
    const ClusterSpec one = one_card(spec, 1);
    CHECK(one.gpu.id == "old");
    CHECK(one.gpus == 1);
    CHECK(one.cooling == Cooling{.cooler = Cooler::water, .neighbours = 0});
    CHECK(slot_rate(build_cluster(one), 0) == 4_GBps);
  }

  TEST_CASE("spread ranks use the first slots of every box") {
    ClusterSpec spec = three_cards();
    spec.nodes = 2;
    spec.placement = Placement::spread;
    const std::vector<RankSlot> ranks = rank_slots(spec);
    REQUIRE(ranks.size() == 3);
    CHECK(ranks[1].slot == 1);
    CHECK(ranks[2].box == 1);
    CHECK(cards_in_words(spec) == "2x fast + 1x old + 0x geforce");
  }
}
