#include "study/simulate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "execution/execute.hpp"
#include "hardware/sustained_clock.hpp"
#include "parallel/build_plan.hpp"
#include "report/summarise.hpp"
#include "study/scaled_hardware.hpp"
#include "topology/cluster.hpp"

namespace gpuscale {

namespace {

Timeline run_plan(const Plan& plan, const Topology& topology) {
  try {
    return execute(plan, topology);
  } catch (const RunTooLong& too_long) {
    throw ScenarioError({{Place{}, std::string(too_long.what()) +
                                       "; look for a batch, a size or a rate that is off by orders of magnitude"}});
  }
}

Report run_once(const Job& job, const ClusterSpec& spec) {
  const Cluster cluster = build_cluster(spec);
  const PlannedStep step = build_plan(job, spec, cluster, &plan_time);
  const Timeline timeline = run_plan(step.plan, cluster.topology);
  return summarise(job, spec, cluster, step, timeline);
}

/// A job that spills into a card's slow memory runs again at the bandwidth that leaves it.
Report run_in_memory(const Job& job, ClusterSpec spec) {
  Report report = run_once(job, spec);
  const BytesPerSecond met = memory_bandwidth_in_use(spec.gpu, report.memory.footprint.total());
  if (met == spec.gpu.memory_bandwidth) return report;
  spec.gpu.memory_bandwidth = met;
  return run_once(job, spec);
}

/// On cards at the clocks that they keep up and links less what others take of them.
Report run(const Job& job, ClusterSpec spec) {
  const double clock = spec.gpu.boost_clock.count();
  spec.gpu = sustained(std::move(spec.gpu), spec.cooling, spec.power_limit);
  for (const BackgroundTraffic& others : spec.background) scale_link_rates(spec, others.kind, 1.0 - others.share);
  Report report = run_in_memory(job, spec);
  // Utilisation is of the peak on the box.
  if (report.model_flop_utilisation) *report.model_flop_utilisation *= spec.gpu.boost_clock.count() / clock;
  return report;
}

/// The same job on one GPU: nothing split, nothing exchanged; the per-GPU or the global batch is kept.
Report run_on_one_gpu(Job job, ClusterSpec spec) {
  job.parallel = {};
  spec.gpus = 1;
  spec.nodes = 1;
  spec.fabric.reset();
  if (spec.cooling) spec.cooling->neighbours = 0;
  return run(job, spec);
}

/// A measurement that no card of this kind can have made. Algorithms that save arithmetic (Winograd: 2.25 times)
/// may exceed the peak rate, but not without bound.
void refuse_impossible(const Report& plain, Seconds measured) {
  constexpr double kMostOfPeak = 2.25;
  const double of_peak = plain.model_flop_utilisation.value_or(0.0) * (plain.step_time / measured);
  if (of_peak <= kMostOfPeak) return;
  throw ScenarioError(
      {{Place{}, fmt::format("'throughput_1gpu' of {:.4g} /s would take {:.0f} % of the peak rate of {}; "
                             "write what one GPU did, in samples per second",
                             plain.global_batch / measured.count(), 100 * of_peak, plain.gpu)}});
}

/// The factor on kernel times with which one GPU reaches the measured throughput: what the step takes
/// beyond compute stays as it is.
double calibration_scale(const Job& job, const ClusterSpec& spec) {
  const Report plain = run_on_one_gpu(job, spec);
  const Seconds measured(plain.global_batch / *job.calibrated_throughput);
  refuse_impossible(plain, measured);
  const Seconds beside = plain.step_time - plain.split.compute;
  const Seconds wanted = measured - beside;
  // A host-bound measurement cannot be reached by faster kernels: then compute takes no part of the step.
  return std::max(wanted.count(), measured.count() * 1e-3) / plain.split.compute.count();
}

void add_speedup(Report& report, const Job& job, const ClusterSpec& spec) {
  const Report one = report.gpus == 1 ? report : run_on_one_gpu(job, spec);
  report.speedup = report.throughput / one.throughput;
  report.efficiency = *report.speedup / report.gpus;
  report.baseline = job.batch.per_gpu ? "one GPU with the batch of one GPU" : "one GPU with the global batch";
  if (!one.memory.fits) report.baseline += ", which would not fit its memory";
}

/// As calibrated(), with the throughput still there, for those who ask whether it was measured.
Scenario with_calibration(Scenario scenario) {
  Job& job = scenario.job;
  if (job.calibration != Calibration{}) apply_calibration(job, scenario.cluster);
  if (job.calibrated_throughput) job.compute_scale = calibration_scale(job, scenario.cluster);
  return scenario;
}

/// The report with what only the scenario knows.
Report named(Report report, const Scenario& scenario) {
  report.scenario = scenario.name;
  for (const Setting& setting : scenario.settings) report.settings.emplace_back(setting.path, setting.value);
  report.provenance = scenario.provenance;
  return report;
}

}  // namespace

Report simulate(const Scenario& scenario) {
  const Scenario measured = with_calibration(scenario);
  Report report = named(run(measured.job, measured.cluster), scenario);
  if (!measured.job.transfer) add_speedup(report, measured.job, measured.cluster);
  return report;
}

Report simulate_step(const Scenario& scenario) {
  const Scenario measured = with_calibration(scenario);
  return named(run(measured.job, measured.cluster), scenario);
}

Scenario calibrated(const Scenario& scenario) {
  Scenario measured = with_calibration(scenario);
  measured.job.calibrated_throughput.reset();
  return measured;
}

}  // namespace gpuscale
