#include "parallel/build_plan.hpp"

#include <doctest/doctest.h>

#include "jobs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

TEST_SUITE("parallel") {
  TEST_CASE("without overlap a step is compute and then the textbook ring") {
    const Job job = plain_job(dense_net(4));
    const double alone = outcome(job, 1).seconds();
    for (const int gpus : {2, 4, 8}) {
      CAPTURE(gpus);
      const double n = gpus;
      CHECK(outcome(job, gpus).seconds() == doctest::Approx(alone + 2 * (n - 1) / n * 16e6 / 10e9).epsilon(1e-6));
    }
  }

  TEST_CASE("overlap hides every exchange but the last layer's") {
    Job job = plain_job(dense_net(8));
    job.framework.exchange = {.algorithm = ExchangeAlgorithm::ring, .bucket = Bytes(), .overlap = true};
    const double alone = outcome(job, 1).seconds();
    // Backward takes 0.4 ms a layer, a layer's exchange on this network 4 MB / 100 GB/s = 0.04 ms.
    CHECK(outcome(job, 2, 100_GBps).seconds() == doctest::Approx(alone + 4e6 / 100e9).epsilon(1e-6));
  }

  TEST_CASE("overlap never makes a step longer") {
    for (const double rate : {1e9, 10e9, 100e9}) {
      CAPTURE(rate);
      Job job = plain_job(dense_net(6));
      job.framework.exchange = {.algorithm = ExchangeAlgorithm::ring, .bucket = 8_MB, .overlap = false};
      const double after = outcome(job, 4, BytesPerSecond(rate)).seconds();
      job.framework.exchange.overlap = true;
      CHECK(outcome(job, 4, BytesPerSecond(rate)).seconds() <= after);
    }
  }

  TEST_CASE("independent jobs take the time of one whatever the link") {
    Job job = plain_job(dense_net(4));
    const double alone = outcome(job, 1).seconds();
    job.parallel.independent = true;
    CHECK(outcome(job, 4, BytesPerSecond(1e6)).seconds() == alone);
  }

  TEST_CASE("weak scaling keeps the batch of a GPU and strong scaling that of the job") {
    Job job = plain_job(dense_net(2), 64);
    CHECK(batch_sizes(job, RankGrid{.data = 4}).replica == 64);
    CHECK(batch_sizes(job, RankGrid{.data = 4}).global == 256);
    job.batch.per_gpu = false;
    CHECK(batch_sizes(job, RankGrid{.data = 4}).replica == 16);
    CHECK(batch_sizes(job, RankGrid{.data = 4}).global == 64);
  }

  TEST_CASE("a copy of the model over several GPUs sees the samples of all of them") {
    const Job job = plain_job(dense_net(2), 64);
    CHECK(batch_sizes(job, RankGrid{.tensor = 2, .data = 2}).replica == 128);
    CHECK(batch_sizes(job, RankGrid{.tensor = 2, .data = 2}).global == 256);
  }

  TEST_CASE("one interpreter makes the replicas of all GPUs anew, tensor by tensor") {
    Job job = plain_job(dense_net(3));
    job.framework.exchange.algorithm = ExchangeAlgorithm::gather;
    job.framework.host.shared = true;
    const double before = outcome(job, 4, BytesPerSecond(1e15)).seconds();
    job.framework.host.replica = 10_ms;
    job.framework.host.replica_tensor = 1_ms;
    CHECK(outcome(job, 4, BytesPerSecond(1e15)).seconds() - before ==
          doctest::Approx(4 * (10 + 3) * 1e-3).epsilon(1e-3));
  }

  TEST_CASE("one process makes replicas and sums gradients for every microbatch") {
    Job job = plain_job(dense_net(2));
    job.framework.exchange.algorithm = ExchangeAlgorithm::gather;
    const double one = outcome(job, 4).seconds();
    job.batch.samples *= 4;
    job.parallel.pipeline.microbatches = 4;
    CHECK(outcome(job, 4).seconds() == doctest::Approx(4 * one).epsilon(0.01));
  }

  TEST_CASE("replicas and gradients of one process pass along a ring, whatever the number of GPUs") {
    // 256 MB of weights, down the line and back in chunks: one more of them with each further GPU.
    Job job = plain_job(dense_net(1, 8000), 1);
    job.framework.exchange.algorithm = ExchangeAlgorithm::gather;
    const double two = outcome(job, 2, 1_GBps).seconds();
    CHECK(two == doctest::Approx(2 * 256e6 / 1e9).epsilon(0.02));
    CHECK(outcome(job, 8, 1_GBps).seconds() <= 1.1 * two);
  }

  TEST_CASE("a shared interpreter issues for one GPU after the other") {
    Job job = plain_job(dense_net(2), 1);
    job.parallel.independent = true;
    job.framework.host.forward_operator = 1_ms;
    job.framework.host.backward_operator = 1_ms;
    job.framework.host.shared = true;
    const double one = outcome(job, 1).seconds();
    CHECK(outcome(job, 4).seconds() == doctest::Approx(4 * one).epsilon(0.05));
  }

  TEST_CASE("an 8-bit codec sends a quarter") {
    Job job = plain_job(dense_net(4));
    const Bytes plain = outcome(job, 4).step.sent_per_gpu;
    job.parallel.exchange.codec = CodecKind::int8;
    const PlannedStep step = outcome(job, 4).step;
    CHECK(step.sent_per_gpu == plain / 4.0);
    CHECK(step.sent_uncompressed_per_gpu == plain);
  }

  TEST_CASE("a codec that would not shrink what is already narrow is left out") {
    Job job = plain_job(dense_net(2));
    job.precision = Precision::fp16;
    job.framework.exchange.compact = true;
    job.parallel.exchange.codec = CodecKind::fp16;
    const PlannedStep step = outcome(job, 2).step;
    CHECK(step.sent_per_gpu == step.sent_uncompressed_per_gpu);
  }

  TEST_CASE("split layers exchange activations instead of gradients") {
    Job job = plain_job(dense_net(4), 250);
    job.parallel.model.degree = 4;
    const PlannedStep step = outcome(job, 4).step;
    // Four gathers forward and three sums of errors backward (the first layer's input needs none), each of
    // 1000 samples x 1000 numbers, of which a rank sends three quarters.
    CHECK(step.sent_per_gpu.count() == doctest::Approx(7 * 0.75 * 4e6).epsilon(1e-9));
  }

  TEST_CASE("sub-batches hide activation exchanges behind compute") {
    Job job = plain_job(dense_net(6, 2000), 250);
    job.parallel.model.degree = 4;
    const double at_once = outcome(job, 4, 5_GBps).seconds();
    job.parallel.model.sub_batch = 250;
    CHECK(outcome(job, 4, 5_GBps).seconds() < 0.9 * at_once);
  }

  TEST_CASE("data and model parallelism compose on a grid") {
    Job job = plain_job(dense_net(4), 250);
    job.parallel.model.degree = 2;
    const PlannedStep step = outcome(job, 4).step;
    CHECK(step.grid.data == 2);
    CHECK(step.grid.tensor == 2);
    CHECK(step.batch.global == 1000);
  }

  TEST_CASE("a server that updates makes even one GPU push and pull") {
    Job job = plain_job(dense_net(4));
    job.framework.exchange.algorithm = ExchangeAlgorithm::parameter_server_cpu;
    ClusterSpec spec = star_cluster(1);
    Topology desktop = desktop_of(1, 10_GBps, 1000_GBps);
    const std::vector<DeviceId> ranks(desktop.gpus().begin(), desktop.gpus().end());
    const Cluster cluster{std::move(desktop), ranks};
    const auto seconds = [&] {
      return execute(build_plan(job, spec, cluster, &plan_time).plan, cluster.topology).end.since_start();
    };
    const Seconds without = seconds();
    job.framework.optimizer_on_server = true;
    CHECK((seconds() - without).count() > 2 * 16e6 / 10e9);
  }

  TEST_CASE("samples that cannot be prepared in time hold the step") {
    Job job = plain_job(dense_net(2), 100);
    job.input = InputConfig{.bytes_per_sample = 100_kB, .storage = BytesPerSecond(100e6)};
    CHECK(outcome(job, 2).seconds() == doctest::Approx(200 * 100e3 / 100e6).epsilon(1e-6));
  }

  TEST_CASE("the four-GPU figures of Dettmers follow from his layer times") {
    // arXiv:1511.04561: conv layers data parallel, fc layers model parallel in four passes of 3.34 ms, of
    // which 6.81 ms (32-bit) or 2.55 ms (8-bit) of transfers stay exposed. T: one GPU, own kernels or convnet2.
    struct Row {
      double total_ms, exposed_ms, printed;
    };
    for (const Row& row :
         {Row{104.1, 6.81, 3.53}, Row{104.1, 2.55, 3.67}, Row{177, 6.81, 3.71}, Row{177, 2.55, 3.80}}) {
      CAPTURE(row.printed);
      const Topology box = star_of(4, 10_GBps);
      PlanBuilder plan;
      RankTasks conv_done;
      std::vector<LaneId> lanes;
      for (int i = 0; i < 4; ++i) {
        lanes.push_back(plan.add_lane("gpu" + std::to_string(i)));
        conv_done.push_back(plan.add(Work{.lane = lanes.back(), .duration = Seconds((row.total_ms - 6.5) * 1e-3)}));
      }
      for (std::size_t i = 0; i < 4; ++i) {
        TaskId last = plan.add(Work{.lane = lanes[i], .duration = 0.05_ms}, conv_done);
        for (int pass = 0; pass < 4; ++pass) last = plan.add(Work{.lane = lanes[i], .duration = 3.34_ms}, {last});
        Transfer rest;
        rest.amount = 10_GBps * Seconds(row.exposed_ms * 1e-3);
        rest.loads = {{ChannelId(2 * i), 1.0}};  // each card's own link
        plan.add(rest, {last});
      }
      const double step = execute(std::move(plan).build(), box).end.since_start().count();
      CHECK(4 * row.total_ms * 1e-3 / step == doctest::Approx(row.printed).epsilon(0.002));
    }
  }
}
