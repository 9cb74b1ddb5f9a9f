#include "parallel/rank_kinds.hpp"

#include <doctest/doctest.h>
#include <numeric>

#include "jobs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

using Shares = std::vector<std::int64_t>;

Shares shared(std::int64_t total, const std::vector<double>& speeds) { return shared_by_speed(total, speeds); }

/// A perfect card of half the rates: whatever it computes takes twice as long.
Gpu half_card() {
  Gpu card = perfect_card();
  card.multiprocessors = 16;
  for (RateTable* table : {&card.peak, &card.matrix}) {
    for (std::optional<FlopPerSecond>& rate : *table) {
      if (rate) rate = *rate * 0.5;
    }
  }
  card.memory_bandwidth = card.memory_bandwidth * 0.5;
  card.id = card.name = "half";
  return card;
}

/// Cards below one switch; those of the second kind are half as fast.
ClusterSpec cards_of(const std::vector<std::size_t>& kinds) {
  ClusterSpec spec;
  spec.gpu = perfect_card();
  spec.gpu.multiprocessors = 16;
  spec.other_cards = {{.gpu = half_card()}};
  spec.card_of_slot = {kinds};
  spec.gpus = static_cast<int>(kinds.size());
  spec.machine.devices = {{.name = "switch", .kind = DeviceKind::pcie_switch}};
  for (int i = 0; i < spec.gpus; ++i) {
    const std::string name = "gpu" + std::to_string(i);
    spec.machine.devices.push_back({.name = name});
    spec.machine.connections.push_back(
        {.from = name, .to = "switch", .type = link_type(BytesPerSecond(10e9), Seconds())});
  }
  return spec;
}

Outcome outcome_on(const std::vector<std::size_t>& kinds, const Job& job) {
  const ClusterSpec spec = cards_of(kinds);
  const Cluster cluster = build_cluster(spec);
  Outcome result{.step = build_plan(job, spec, cluster, &plan_time), .timeline = {}};
  result.timeline = execute(result.step.plan, cluster.topology);
  return result;
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("shares by speed are whole and sum to the total") {
    CHECK(shared(8, {3.0, 1.0}) == Shares{6, 2});
    CHECK(shared(10, {2.0, 1.0}) == Shares{7, 3});             // 6.67 and 3.33
    CHECK(shared(7, {1.0, 1.0, 1.0}) == Shares{3, 2, 2});      // equal remainders: the first
    CHECK(shared(64, {2.5, 2.5, 1.0}) == Shares{27, 27, 10});  // 26.67, 26.67 and 10.67
    for (const std::int64_t total : {5, 17, 640, 99'999}) {
      CAPTURE(total);
      const Shares shares = shared(total, {0.3, 17.0, 5.5, 5.5, 1.0});
      CHECK(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) == total);
    }
  }

  TEST_CASE("the slowest gets one sample at least and takes it from those with most") {
    CHECK(shared(5, {100.0, 1.0, 1.0}) == Shares{3, 1, 1});
    CHECK(shared(3, {100.0, 1.0, 1.0}) == Shares{1, 1, 1});
  }

  TEST_CASE("with even batches a step on unlike cards is that of the slowest") {
    const Job job = plain_job(dense_net(3));
    const Outcome mixed = outcome_on({0, 1, 0}, job);
    CHECK(mixed.timeline.end == outcome_on({1, 1, 1}, job).timeline.end);
    CHECK(mixed.timeline.end > outcome_on({0, 0, 0}, job).timeline.end);
    CHECK(mixed.step.kinds.size() == 2);
    CHECK(mixed.step.kinds[0].ranks == 2);
    CHECK(mixed.step.kind_of_rank == std::vector<std::size_t>{0, 1, 0});
  }

  TEST_CASE("a card of half the speed gets half the samples and then takes as long") {
    // Sizes that fill whole tiles on every multiprocessor: nothing is lost at the edges.
    Job job = plain_job(dense_net(3, 1024), 1536);
    job.forward_only = true;  // an update would take the slower card longer whatever its share
    job.parallel.batch_split = BatchSplit::proportional;
    const PlannedStep step = outcome_on({0, 1}, job).step;
    REQUIRE(step.kinds.size() == 2);
    CHECK(step.kinds[0].kind.samples == 2048);
    CHECK(step.kinds[1].kind.samples == 1024);
    for (std::size_t layer = 0; layer < 3; ++layer) {
      const double flop = 2.0 * 2048 * 1024 * 1024;
      CHECK(step.kinds[0].times[layer].forward.count() == doctest::Approx(flop / 10e12).epsilon(1e-9));
      CHECK(step.kinds[1].times[layer].forward.count() == doctest::Approx(flop / 2 / 5e12).epsilon(1e-9));
    }
  }

  TEST_CASE("microbatches are shared out alike") {
    Job job = plain_job(dense_net(2, 1024), 3072);
    job.forward_only = true;
    job.parallel.batch_split = BatchSplit::proportional;
    job.parallel.pipeline.microbatches = 2;
    const PlannedStep step = outcome_on({0, 1}, job).step;
    REQUIRE(step.kinds.size() == 2);
    CHECK(step.kinds[0].kind.samples == 2 * 2048);
    CHECK(step.kinds[1].kind.samples == 2 * 1024);
  }

  TEST_CASE("like cards have one kind and even shares whatever the split") {
    Job job = plain_job(dense_net(2));
    const Outcome even = outcome(job, 4);
    job.parallel.batch_split = BatchSplit::proportional;
    const Outcome proportional = outcome(job, 4);
    CHECK(proportional.step.kinds.size() == 1);
    CHECK(proportional.timeline.end == even.timeline.end);
  }

  TEST_CASE("a pipeline gives the slower stage fewer layers") {
    // Twelve equal layers, the second stage half as fast: eight and four take the same time.
    Job job = plain_job(dense_net(12), 64);
    job.parallel.pipeline = {.stages = 2, .microbatches = 4};
    const auto layers = [&](const std::vector<std::size_t>& kinds) {
      return outcome_on(kinds, job).step.parts.front().last;
    };
    CHECK(layers({0, 1}) == 8);
    CHECK(layers({1, 0}) == 4);
    CHECK(layers({0, 0}) == 6);
  }

  TEST_CASE("ranks that wait for a slower one in a tensor group compute at its pace") {
    Job job = plain_job(dense_net(4), 64);
    job.parallel.model.degree = 2;
    CHECK(outcome_on({0, 1}, job).timeline.end <= outcome_on({1, 1}, job).timeline.end);
    CHECK(outcome_on({0, 1}, job).timeline.end > outcome_on({0, 0}, job).timeline.end);
  }
}
