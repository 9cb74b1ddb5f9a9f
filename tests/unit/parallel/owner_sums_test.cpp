#include <doctest/doctest.h>
#include <utility>

#include "jobs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr double kLayer = 4e6;  ///< bytes of one layer of dense_net()

Job summed_on(TensorOwner owner, int layers) {
  Job job = plain_job(dense_net(layers));
  job.framework.exchange = {
      .algorithm = ExchangeAlgorithm::parameter_server_gpu, .overlap = false, .owner = owner, .servers = {}};
  return job;
}

/// Bytes that pass the busiest link one after the other: from the times at two rates, whatever else takes time.
double bytes_in_a_row(const Job& job, int gpus) {
  const double slow = outcome(job, gpus, 1_GBps).seconds();
  const double fast = outcome(job, gpus, 2_GBps).seconds();
  return (slow - fast) / (1 / 1e9 - 1 / 2e9);
}

/// From one step to the next.
double period(const Outcome& run) {
  const SteadyPart& steady = run.step.steady.value();
  return (run.timeline.tasks[steady.to.index()].end - run.timeline.tasks[steady.from.index()].end).count() /
         steady.steps;
}

std::size_t updates(const Plan& plan) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan.task(TaskId(i));
    if (task.lane.valid() && task.activity == Activity::compute && plan.label(TaskId(i)) == kUpdateLabel) ++count;
  }
  return count;
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("a large tensor is received from all others by one GPU and sent to all of them") {
    // 2 (D-1) S on the owner's link, where a ring has 2 (D-1)/D S.
    for (const int gpus : {2, 4, 8}) {
      CAPTURE(gpus);
      for (const TensorOwner owner : {TensorOwner::first_gpu, TensorOwner::least_bytes, TensorOwner::largest_first})
        CHECK(bytes_in_a_row(summed_on(owner, 1), gpus) == doctest::Approx(2 * (gpus - 1) * kLayer).epsilon(1e-6));
    }
  }

  TEST_CASE("two GPUs that own half of the layers each copy both ways at once") {
    // Each sends the gradients of the other's layers and the sums of its own: as many as there are layers.
    CHECK(bytes_in_a_row(summed_on(TensorOwner::least_bytes, 8), 2) == doctest::Approx(8 * kLayer).epsilon(1e-2));
    CHECK(bytes_in_a_row(summed_on(TensorOwner::largest_first, 8), 2) == doctest::Approx(8 * kLayer).epsilon(1e-2));
  }

  TEST_CASE("sums of the first layers travel back while the others come when all are on the first GPU") {
    CHECK(bytes_in_a_row(summed_on(TensorOwner::first_gpu, 8), 2) == doctest::Approx(9 * kLayer).epsilon(1e-2));
  }

  TEST_CASE("weights that an owner updates are read once all are and each layer waits for its own") {
    // On slow links all that is hidden is compute: a step has what comes down and what goes up, one after the other.
    // Who is served first sends before the last has its weights: one tensor for each other rank, either way.
    Job job = summed_on(TensorOwner::first_gpu, 8);
    const double compute = outcome(job, 1).seconds();
    job.framework.optimizer_on_server = true;
    for (const int gpus : {2, 4}) {
      CAPTURE(gpus);
      const double travels = 2 * 8 * (gpus - 1) * kLayer / 1e9;
      const double step = period(outcome(job, gpus, 1_GBps));
      CHECK(step > travels - 2 * (gpus - 2) * kLayer / 1e9);
      CHECK(step < travels + compute);
    }
  }

  TEST_CASE("an owner updates a tensor for all") {
    Job job = summed_on(TensorOwner::least_bytes, 8);
    CHECK(updates(outcome(job, 4).step.plan) == 4);  // each GPU at once all it has
    job.framework.optimizer_on_server = true;
    const PlannedStep owned = outcome(job, 4).step;
    CHECK(updates(owned.plan) == 8 * static_cast<std::size_t>(owned.steps));  // each tensor on its GPU
  }

  TEST_CASE("a layer waits for its own weights only where copies go by priority") {
    Job job = summed_on(TensorOwner::least_bytes, 8);
    job.framework.exchange.overlap = true;
    const double all = outcome(job, 4, 2_GBps).seconds();
    job.framework.exchange.schedule = ExchangeSchedule::priority;
    CHECK(period(outcome(job, 4, 2_GBps)) < all);
  }
}
