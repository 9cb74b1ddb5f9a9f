#include "study/simulate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "execution/execute.hpp"
#include "hardware/spread.hpp"
#include "hardware/sustained_clock.hpp"
#include "parallel/build_plan.hpp"
#include "report/summarise.hpp"
#include "study/scaled_hardware.hpp"
#include "topology/cards.hpp"
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
  const Cluster cluster = build_cluster(spec, host_copies(job.framework.transport));
  const PlannedStep step = build_plan(job, spec, cluster, &plan_time);
  const Timeline timeline = run_plan(step.plan, cluster.topology);
  return summarise(job, spec, cluster, step, timeline);
}

/// Where the algorithms that convolutions want do not fit, the job runs again with those whose workspace does.
Report run_in_room(Job& job, const ClusterSpec& spec) {
  Report report = run_once(job, spec);
  if (!report.memory.short_of_workspace) return report;
  Bytes& limit = job.framework.convolution.workspace;
  limit = std::min(limit, report.memory.room_for_workspace);
  report = run_once(job, spec);
  report.memory.short_of_workspace = true;
  return report;
}

/// A job that spills into a card's slow memory runs again at the bandwidth that leaves it.
Report run_in_memory(Job job, ClusterSpec spec) {
  Report report = run_in_room(job, spec);
  bool spills = false;
  std::size_t kind = 0;
  for_each_card(spec, [&](Gpu& gpu) {
    const Bytes used = report.cards.empty() ? report.memory.footprint.total() : report.cards[kind++].memory;
    const BytesPerSecond met = memory_bandwidth_in_use(gpu, used);
    spills = spills || met != gpu.memory_bandwidth;
    gpu.memory_bandwidth = met;
  });
  if (!spills) return report;
  const bool is_short = report.memory.short_of_workspace;
  report = run_once(job, spec);
  report.memory.short_of_workspace = is_short;
  return report;
}

/// What the peak rates of all GPUs together have lost: 1 at the clocks on the box.
double kept_peak(const Job& job, const ClusterSpec& now, const ClusterSpec& on_the_box) {
  const auto kept = [&](std::size_t kind) {
    return card(now, kind).boost_clock.count() / card(on_the_box, kind).boost_clock.count();
  };
  if (now.other_cards.empty()) return kept(0);
  double peak = 0;
  double left = 0;
  for (const RankSlot& rank : rank_slots(now)) {
    const std::size_t kind = card_at(now, rank.box, rank.slot);
    const double of_rank = peak_matrix_rate(card(on_the_box, kind), job.precision).count();
    peak += of_rank;
    left += of_rank * kept(kind);
  }
  return left / peak;
}

/// How much longer than an average rank the slowest takes for what it does itself, if the others wait for it.
double slowest_rank(const Job& job, const ClusterSpec& spec) {
  if (job.transfer || job.parallel.independent || job.parallel.asynchronous) return 1.0;
  double spread = 0;
  for (std::size_t kind = 0; kind < card_kinds(spec); ++kind) spread = std::max(spread, card(spec, kind).family.spread);
  return slowest_of(spec.gpus, spec.spread.value_or(spread));
}

/// As every rank of a job would work if it were as slow as the slowest. One host that serves all is no rank's own.
Job slowed(Job job, double slowest) {
  job.slowest_scale = slowest;
  HostCost& host = job.framework.host;
  for (Seconds HostCost::*const cost : kHostCosts) host.*cost = host.*cost * (host.shared ? 1.0 : slowest);
  return job;
}

/// On cards at the clocks that they keep up, the slowest of which rules, and links less what others take of them.
Report run(const Job& average, const ClusterSpec& on_the_box) {
  const Job job = slowed(average, slowest_rank(average, on_the_box));
  ClusterSpec spec = on_the_box;
  spec.gpu = sustained(std::move(spec.gpu), spec.cooling, spec.power_limit);
  for (CardKind& other : spec.other_cards) other.gpu = sustained(std::move(other.gpu), other.cooling, spec.power_limit);
  for (const BackgroundTraffic& others : spec.background) scale_link_rates(spec, others.kind, 1.0 - others.share);
  Report report = run_in_memory(job, spec);
  // Utilisation is of the peak on the box.
  if (report.model_flop_utilisation) *report.model_flop_utilisation *= kept_peak(job, spec, on_the_box);
  return report;
}

/// The same job on one GPU of a kind: nothing split, nothing exchanged, not with a server either; the per-GPU or the
/// global batch is kept.
Report run_on_one_gpu(Job job, const ClusterSpec& spec, std::size_t kind) {
  job.parallel = {};
  job.framework.optimizer_on_server = false;
  return run(job, one_card(spec, kind));
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

/// The factor on kernel times with which one GPU, of unlike ones the first, reaches the measured throughput: what the
/// step takes beyond compute stays as it is.
double calibration_scale(const Job& job, const ClusterSpec& spec) {
  const Report plain = run_on_one_gpu(job, spec, 0);
  const Seconds measured(plain.global_batch / *job.calibrated_throughput);
  refuse_impossible(plain, measured);
  const Seconds beside = plain.step_time - plain.split.compute;
  const Seconds wanted = measured - beside;
  // A host-bound measurement cannot be reached by faster kernels: then compute takes no part of the step.
  return std::max(wanted.count(), measured.count() * 1e-3) / plain.split.compute.count();
}

/// Against the fastest GPU of unlike ones, and the speeds of all of them alone.
void add_speedup_of_unlike(Report& report, const Job& job, const ClusterSpec& spec) {
  Report fastest;
  double all = 0;
  for (std::size_t kind = 0; kind < report.cards.size(); ++kind) {
    Report one = run_on_one_gpu(job, spec, kind);
    all += one.throughput * report.cards[kind].gpus;
    if (one.throughput > fastest.throughput) fastest = std::move(one);
  }
  report.speedup = report.throughput / fastest.throughput;
  report.efficiency = report.throughput / all;
  report.baseline = fmt::format("one {} with the {}{}; efficiency against all GPUs alone", fastest.gpu,
                                job.batch.per_gpu ? "batch of one GPU" : "global batch",
                                fastest.memory.fits ? "" : ", which would not fit its memory");
}

void add_speedup(Report& report, const Job& job, const ClusterSpec& spec) {
  if (!report.cards.empty()) return add_speedup_of_unlike(report, job, spec);
  const Report one = report.gpus == 1 ? report : run_on_one_gpu(job, spec, 0);
  report.speedup = report.throughput / one.throughput;
  report.efficiency = *report.speedup / report.gpus;
  report.baseline = job.batch.per_gpu ? "one GPU with the batch of one GPU" : "one GPU with the global batch";
  if (!one.memory.fits) report.baseline += ", which would not fit its memory";
}

/// Every codec of a strategy that is not none; takes it away.
std::string take_codecs(ParallelConfig& parallel) {
  std::vector<std::string> words;
  const auto take = [&](CodecKind& kind, std::string_view of) {
    if (kind != CodecKind::none) words.push_back(fmt::format("{}{}", codec(kind).name, of));
    kind = CodecKind::none;
  };
  take(parallel.exchange.codec, "");
  for (CodecKind* kind : {&parallel.model.codec, &parallel.tensor.codec, &parallel.pipeline.codec})
    take(*kind, " of activations");
  return fmt::format("{}", fmt::join(words, ", "));
}

void add_codec_gain(Report& report, Job job, const ClusterSpec& spec) {
  std::string codecs = take_codecs(job.parallel);
  if (codecs.empty() || report.gpus == 1) return;
  const Report plain = run(job, spec);
  report.codec_gain = CodecGain{
      .codecs = std::move(codecs), .exchanging_without = plain.exchanging, .step_time_without = plain.step_time};
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
  add_codec_gain(report, measured.job, measured.cluster);
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
