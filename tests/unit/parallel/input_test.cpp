#include <doctest/doctest.h>

#include "jobs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// A job of 1,000 samples a GPU whose input is copied at so many bytes a sample; nothing else of the input takes time.
Job copying_job(Bytes per_sample) {
  Job job = plain_job(dense_net(4));
  job.input = InputConfig{.copied_per_sample = per_sample};
  return job;
}

/// Two cards on one socket whose peer copies are staged in host memory: exchanges and copies share the slots.
double on_shared_slots(const Job& job) {
  Topology topology = desktop_of(2, 10_GBps, BytesPerSecond(1e12));
  std::vector<DeviceId> ranks(topology.gpus().begin(), topology.gpus().end());
  const Cluster cluster{std::move(topology), std::move(ranks)};
  const PlannedStep step = build_plan(job, star_cluster(2), cluster, &plan_time);
  return execute(step.plan, cluster.topology).end.since_start().count();
}

/// Two cards that exchange over links of their own and reach the host over another bus.
double on_own_links(const Job& job) {
  TopologyBuilder builder;
  const DeviceId cpu = builder.add({.name = "cpu0", .kind = DeviceKind::cpu});
  const DeviceId memory = builder.add({.name = "memory0", .kind = DeviceKind::memory});
  builder.connect(cpu, memory, link_type(BytesPerSecond(1e12), Seconds(), "memory"), 1);
  std::vector<DeviceId> gpus;
  for (const char* name : {"gpu0", "gpu1"}) gpus.push_back(builder.add({.name = name, .peer_to_peer = true}));
  for (const DeviceId gpu : gpus) builder.connect(gpu, cpu, link_type(10_GBps, Seconds()), 1);
  builder.connect(gpus[0], gpus[1], link_type(10_GBps, Seconds(), "nvlink"), 1);
  const Cluster cluster{std::move(builder).build(), gpus};
  const PlannedStep step = build_plan(job, star_cluster(2), cluster, &plan_time);
  return execute(step.plan, cluster.topology).end.since_start().count();
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("copies of the batch slow an exchange on the same slots") {
    const double without = on_shared_slots(plain_job(dense_net(4)));
    // 100 MB a GPU at 10 GB/s take 10 ms, longer than the compute before the exchange.
    const double with = on_shared_slots(copying_job(100_kB));
    CHECK(with > without + 1e-3);
    CHECK(on_shared_slots(copying_job(Bytes(1))) == doctest::Approx(without).epsilon(1e-3));
  }

  TEST_CASE("copies of the batch leave an exchange on other links alone") {
    const double without = on_own_links(plain_job(dense_net(4)));
    CHECK(on_own_links(copying_job(10_kB)) == doctest::Approx(without).epsilon(1e-9));
  }

  TEST_CASE("samples that an interpreter hands over come before the step and those of all GPUs through one thread") {
    Job job = plain_job(dense_net(4));
    const double without = on_own_links(job);
    job.framework.feed = 1_GBps;
    // 1,000 samples of 1,000 fp32 numbers a GPU: 8 MB of both at 1 GB/s, then 4 MB over each slot of 10 GB/s.
    CHECK(on_own_links(job) - without == doctest::Approx(8e-3 + 0.4e-3).epsilon(1e-6));
  }

  TEST_CASE("a step lasts as long as the copies for the next one") {
    // 1,000 samples of 1 MB over 10 GB/s: 0.1 s, and the latencies of the way.
    CHECK(on_own_links(copying_job(1_MB)) == doctest::Approx(0.1).epsilon(1e-3));
  }

  TEST_CASE("augmentation takes its bytes from host memory that all GPUs of a node share") {
    Job job = plain_job(dense_net(4));
    job.input = InputConfig{.copied_per_sample = Bytes(0), .ram_per_sample = 100_MB};
    // 2 GPUs x 1,000 samples x 100 MB over 1 TB/s.
    CHECK(on_own_links(job) == doctest::Approx(0.2).epsilon(1e-3));
  }

  TEST_CASE("storage of a node serves its own GPUs and shared storage serves all") {
    Job job = plain_job(dense_net(4));
    job.input = InputConfig{.bytes_per_sample = 1_MB, .storage = BytesPerSecond(1e9), .copied_per_sample = Bytes(0)};
    CHECK(on_own_links(job) == doctest::Approx(2.0).epsilon(1e-6));  // 2,000 samples on one node
    job.input =
        InputConfig{.bytes_per_sample = 1_MB, .shared_storage = BytesPerSecond(0.5e9), .copied_per_sample = Bytes(0)};
    CHECK(on_own_links(job) == doctest::Approx(4.0).epsilon(1e-6));
  }
}
