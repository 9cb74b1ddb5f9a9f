#include <doctest/doctest.h>

#include "jobs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr int kLayers = 6;

Job by_priority(Bytes partition) {
  Job job = plain_job(dense_net(kLayers));
  job.framework.exchange = {.algorithm = ExchangeAlgorithm::ring,
                            .overlap = true,
                            .schedule = ExchangeSchedule::priority,
                            .partition = partition,
                            .credit = Bytes(1)};  // one piece at a time
  return job;
}

/// From one step to the next.
double period(const Outcome& run) {
  const SteadyPart& steady = run.step.steady.value();
  return (run.timeline.tasks[steady.to.index()].end - run.timeline.tasks[steady.from.index()].end).count() /
         steady.steps;
}

double compute(const PlannedStep& step, std::size_t first, std::size_t last) {
  Seconds total;
  for (std::size_t layer = first; layer < last; ++layer)
    total += step.kinds.front().times[layer].forward + step.kinds.front().times[layer].backward;
  return total.count();
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("on a slow link the last layer alone computes while nothing travels") {
    const double rate = 1e9;
    const double each = 4e6 / rate;  // a ring of two sends each number once: 4 ms, beside 0.6 ms of compute
    const Outcome run = outcome(by_priority(100_kB), 2, BytesPerSecond(rate));
    const double beside = compute(run.step, kLayers - 1, run.step.kinds.front().times.size());
    CHECK(period(run) == doctest::Approx(kLayers * each + beside).epsilon(3e-3));
  }

  TEST_CASE("tensors that are not cut let the last layer go before the one that is wanted sooner") {
    const double rate = 1e9;
    const double each = 4e6 / rate;
    const Outcome run = outcome(by_priority(1_GB), 2, BytesPerSecond(rate));
    const double beside = compute(run.step, kLayers - 1, run.step.kinds.front().times.size()) +
                          run.step.kinds.front().times[kLayers - 2].forward.count();  // the last to be sent
    CHECK(period(run) == doctest::Approx(kLayers * each + beside).epsilon(3e-3));
  }

  TEST_CASE("on a fast link only the first layer is waited for") {
    const double rate = 100e9;  // 0.04 ms a layer
    const Outcome run = outcome(by_priority(1_GB), 2, BytesPerSecond(rate));
    const double all = compute(run.step, 0, run.step.kinds.front().times.size());
    CHECK(period(run) >= all + 4e6 / rate);
    CHECK(period(run) == doctest::Approx(all + 4e6 / rate).epsilon(6e-2));  // and the updates
  }

  TEST_CASE("forward that waits for its own weights only makes a step shorter than one that waits for all") {
    Job job = by_priority(1_MB);
    const double by_need = period(outcome(job, 4, 2_GBps));
    job.framework.exchange.schedule = ExchangeSchedule::fifo;
    CHECK(by_need < outcome(job, 4, 2_GBps).seconds());
  }

  TEST_CASE("pieces by priority send what whole tensors send") {
    Job job = by_priority(1_MB);
    const PlannedStep cut = outcome(job, 4).step;
    job.framework.exchange.schedule = ExchangeSchedule::fifo;
    const PlannedStep whole = outcome(job, 4).step;
    CHECK(cut.steps > 1);
    CHECK((cut.sent_per_gpu / static_cast<double>(cut.steps)).count() ==
          doctest::Approx(whole.sent_per_gpu.count()).epsilon(1e-9));
    CHECK(cut.exchanges == 4 * kLayers);  // 4 MB each
  }

  TEST_CASE("one GPU has nothing to send and one step tells all") {
    const PlannedStep step = outcome(by_priority(1_MB), 1).step;
    CHECK(step.steps == 1);
    CHECK(!step.steady);
  }

  TEST_CASE("a server that updates hands each layer back when it is done") {
    Topology desktop = desktop_of(2, 2_GBps, 1000_GBps);
    const std::vector<DeviceId> ranks(desktop.gpus().begin(), desktop.gpus().end());
    const Cluster cluster{std::move(desktop), ranks};
    Job job = by_priority(1_MB);
    job.framework.exchange.algorithm = ExchangeAlgorithm::parameter_server_cpu;
    job.framework.optimizer_on_server = true;
    const auto run = [&] {
      Outcome result{.step = build_plan(job, star_cluster(2), cluster, &plan_time), .timeline = {}};
      result.timeline = execute(result.step.plan, cluster.topology);
      return result;
    };
    const double by_need = period(run());
    job.framework.exchange.schedule = ExchangeSchedule::fifo;
    CHECK(by_need < run().seconds());
  }
}
