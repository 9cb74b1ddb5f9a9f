#include "parallel/alike.hpp"

#include <doctest/doctest.h>

#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

AlikeFlows flows_of(std::vector<std::vector<ChannelLoad>> loads, std::vector<std::uint32_t> classes) {
  AlikeFlows flows;
  flows.tasks = classes.size();
  flows.classes = std::move(classes);
  flows.loads = std::move(loads);
  return flows;
}

ChannelLoad on(std::size_t channel, double weight = 1.0) { return {.channel = ChannelId(channel), .weight = weight}; }

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("flows on channels of equal rate and load are one") {
    const Topology star = star_of(4, 10_GBps);
    AlikeFlows flows = flows_of({{on(0)}, {on(2)}, {on(4)}, {on(6)}}, {0, 0, 0, 0});
    CHECK(settle_classes(flows, star).empty());
    CHECK(flows.classes == std::vector<std::uint32_t>{0, 0, 0, 0});
    const auto merged = merged_loads(flows);
    CHECK(merged[0] == std::vector<ChannelLoad>{on(0)});
  }

  TEST_CASE("flows that share a channel are not like one that has it alone") {
    const Topology star = star_of(4, 10_GBps);
    AlikeFlows flows = flows_of({{on(0)}, {on(0)}, {on(2)}}, {0, 0, 0});
    settle_classes(flows, star);
    CHECK(flows.classes[0] == flows.classes[1]);
    CHECK(flows.classes[0] != flows.classes[2]);
    CHECK(merged_loads(flows)[0] == std::vector<ChannelLoad>{on(0, 2.0)});
  }

  TEST_CASE("groups whose flows see unlike channels are not alike") {
    const Topology star = star_of(4, 10_GBps);
    AlikeFlows flows = flows_of({{on(0)}, {on(0)}, {on(2)}}, {0});
    CHECK(settle_classes(flows, star) == GroupKinds{0, 0, 1});
  }

  TEST_CASE("a channel that is full only when another is holds nobody") {
    // The second flow crosses a further channel that only it uses: its first one is as narrow.
    const Topology star = star_of(4, 10_GBps);
    AlikeFlows flows = flows_of({{on(0)}, {on(2), on(3)}}, {0, 0});
    settle_classes(flows, star);
    CHECK(flows.classes == std::vector<std::uint32_t>{0, 0});
  }

  TEST_CASE("channels alike under one exchange may differ under two") {
    const Topology star = star_of(4, 10_GBps);
    AlikeFlows first = flows_of({{on(0)}, {on(2)}}, {0});
    settle_classes(first, star);
    const std::vector<AlikeFlows> one = {first};
    CHECK(alike_channels(one, star).stands_for[2] == ChannelId(0));
    const AlikeFlows second = flows_of({{on(0), on(1)}}, {0});
    const std::vector<AlikeFlows> both = {first, second};
    CHECK(alike_channels(both, star).unlike.at(0) == GroupKinds{0, 1});
  }
}
