#pragma once

#include "execution/execute.hpp"
#include "parallel/build_plan.hpp"
#include "unit/hardware/cards.hpp"
#include "unit/machines.hpp"

namespace gpuscale::test {

/// A dense net of equal layers: 4 MB of fp32 weights in each.
inline ModelSpec dense_net(int layers, std::int64_t width = 1000) {
  ModelSpec model;
  model.name = "dense";
  model.family = "dense";
  model.input = features(width);
  for (int i = 0; i < layers; ++i) model.layers.push_back({LinearLayer{.out = width, .bias = false}});
  model.layers.push_back({SoftmaxLossLayer{}});
  return model;
}

/// A job without host cost, message cost or interference: only kernels and bytes take time.
inline Job plain_job(ModelSpec model, std::int64_t batch_per_gpu = 1000) {
  Job job;
  job.model = std::move(model);
  job.batch = {.samples = batch_per_gpu, .per_gpu = true};
  job.optimizer = Optimizer::sgd;
  job.framework.exchange = {.algorithm = ExchangeAlgorithm::ring, .whole_model = true, .overlap = false};
  return job;
}

/// Perfect cards below one switch.
inline ClusterSpec star_cluster(int gpus) {
  ClusterSpec spec;
  spec.gpu = perfect_card();
  spec.gpus = gpus;
  return spec;
}

inline Cluster star(int gpus, BytesPerSecond rate) {
  Topology topology = star_of(gpus, rate);
  std::vector<DeviceId> ranks(topology.gpus().begin(), topology.gpus().end());
  return {std::move(topology), std::move(ranks)};
}

struct Outcome {
  PlannedStep step;
  Timeline timeline;

  [[nodiscard]] double seconds() const { return timeline.end.since_start().count(); }
};

inline Outcome outcome(const Job& job, int gpus, BytesPerSecond rate = BytesPerSecond(10e9)) {
  const Cluster cluster = star(gpus, rate);
  Outcome result{.step = build_plan(job, star_cluster(gpus), cluster, &plan_time), .timeline = {}};
  result.timeline = execute(result.step.plan, cluster.topology);
  return result;
}

}  // namespace gpuscale::test
