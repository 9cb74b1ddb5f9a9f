#include <doctest/doctest.h>
#include <optional>

#include "jobs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

double seconds(const Job& job, std::optional<double> own_host) {
  ClusterSpec spec = star_cluster(1);
  spec.gpu.own_host = own_host;
  const Cluster cluster = star(1, BytesPerSecond(10e9));
  const PlannedStep step = build_plan(job, spec, cluster, &plan_time);
  return execute(step.plan, cluster.topology).end.since_start().count();
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("a processor that runs the program itself computes and issues in turn at the pace of its cores") {
    Job job = plain_job(dense_net(4));
    const double computed = seconds(job, std::nullopt);
    CHECK(seconds(job, 0.5) == computed);  // nothing to issue
    job.framework.host.forward_operator = 10_us;
    job.framework.host.backward_operator = 20_us;
    job.framework.host.step = 100_us;
    job.framework.host.optimizer_tensor = 5_us;
    double issued = 100e-6 + 4 * 5e-6;
    for (const LayerWork& layer : rank_work(job, RankGrid{}, 1000).layers)
      issued += layer.forward_operators * 10e-6 + layer.backward_operators * 20e-6;
    CHECK(seconds(job, 1.0) == doctest::Approx(computed + issued).epsilon(1e-9));
    CHECK(seconds(job, 0.25) == doctest::Approx(computed + 4 * issued).epsilon(1e-9));
    CHECK(seconds(job, std::nullopt) < computed + issued);  // a host beside it runs ahead
  }
}
