#include "report/summarise.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "hardware/gpu.hpp"
#include "report/limits.hpp"
#include "report/uncertainty.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kLinksShown = 8;
constexpr double kMostSamples = 1e9;  // beyond it a batch has no meaning

Seconds of(const StepTimes& times, Activity activity) { return times[static_cast<std::size_t>(activity)]; }

StepSplit step_split(const Plan& plan, const Timeline& timeline) {
  const StepTimes split = times_by_activity(plan, timeline);
  return {.compute = of(split, Activity::compute),
          .host = of(split, Activity::host),
          .exchange_exposed = of(split, Activity::exchange),
          .bubble = of(split, Activity::wait),
          .input = of(split, Activity::input),
          .jitter = {}};
}

std::vector<LinkLoad> busiest_links(const Topology& topology, const Timeline& timeline) {
  std::vector<LinkLoad> loads;
  for (std::size_t i = 0; i < timeline.channels.size(); ++i) {
    const Bytes carried = timeline.channels[i].carried;
    if (carried.count() <= 0) continue;
    const Channel& channel = topology.channels()[i];
    const Seconds full = carried / channel.rate;
    loads.push_back({channel.name, carried, std::min(1.0, full / timeline.end.since_start())});
  }
  std::ranges::stable_sort(loads, std::ranges::greater(), &LinkLoad::load);
  if (loads.size() > kLinksShown) loads.resize(kLinksShown);
  return loads;
}

std::string bucket_in_words(const Job& job) {
  const ExchangeHabit& habit = job.framework.exchange;
  if (job.parallel.exchange.bucket) return to_text(*job.parallel.exchange.bucket) + " buckets";
  if (habit.whole_model) return "the whole model at once";
  return habit.bucket.count() > 0 ? to_text(habit.bucket) + " buckets" : "each tensor alone";
}

std::string exchange_in_words(const Job& job, const PlannedStep& step) {
  std::string text(name(step.algorithm));
  if (step.algorithm == ExchangeAlgorithm::gather) return text + " on GPU 0";
  if (!step.algorithm_reason.empty()) text += " (" + step.algorithm_reason + ")";
  const bool overlap = job.parallel.exchange.overlap.value_or(job.framework.exchange.overlap);
  text += ", " + bucket_in_words(job) + (overlap ? ", overlapped with backward" : ", after backward");
  if (job.parallel.exchange.codec != CodecKind::none) {
    text += fmt::format(", {} codec", codec(job.parallel.exchange.codec).name);
  }
  return text;
}

std::string strategy_in_words(const Job& job, const PlannedStep& step, std::size_t gpus) {
  if (job.transfer) return "one copy from the first GPU to the second";
  if (gpus == 1) return "one GPU";
  if (job.parallel.independent) return fmt::format("{} independent jobs", gpus);
  std::string text;
  if (step.grid.model > 1) {
    text = fmt::format("layers split over {} GPUs", step.grid.model);
    if (job.parallel.model.sub_batch > 0) text += fmt::format(" in sub-batches of {}", job.parallel.model.sub_batch);
    if (job.parallel.model.codec != CodecKind::none) {
      text += fmt::format(", {} activations", codec(job.parallel.model.codec).name);
    }
  }
  if (step.grid.data > 1) {
    if (!text.empty()) text += "; ";
    text += fmt::format("data parallel over {}: ", step.grid.data) + exchange_in_words(job, step);
  }
  return text;
}

MemoryOptions memory_options(const Job& job, const PlannedStep& step, std::int64_t passes) {
  return {.precision = job.precision,
          .optimizer = job.optimizer,
          .optimizer_elsewhere = updates_on_server(job) && !job.parallel.independent,
          .exchange_buffers = step.exchange_buffers,
          .framework = job.framework.base_memory,
          .passes = static_cast<double>(passes)};
}

/// The largest batch of one copy of the model that fits: secant steps along the footprint, which grows nearly in
/// proportion to the batch. 0 if not even one sample does.
double largest_batch_that_fits(const Job& job, const PlannedStep& step, Bytes capacity) {
  constexpr int kSteps = 4;
  const auto total = [&](double samples) {
    const ModelWork work = rank_work(job, step.grid, static_cast<std::int64_t>(samples));
    return footprint(work, memory_options(job, step, 1)).total();
  };
  double fits = 1;
  Bytes at_fits = total(fits);
  if (at_fits > capacity) return 0;
  double other = std::max(2.0, static_cast<double>(step.work.batch));
  for (int i = 0; i < kSteps; ++i) {
    const Bytes at_other = total(other);
    const Bytes per_sample = (at_other - at_fits) / (other - fits);
    if (at_other <= capacity) {
      fits = other;
      at_fits = at_other;
    }
    other = std::floor(fits + (capacity - at_fits) / per_sample);
    if (other <= fits || !(other < kMostSamples)) break;
  }
  return fits;
}

MemoryReport memory_report(const Job& job, const PlannedStep& step, const Gpu& gpu) {
  MemoryReport memory;
  memory.footprint = footprint(step.work, memory_options(job, step, step.passes));
  memory.capacity = gpu.memory_size;
  memory.fits = memory.footprint.total() <= gpu.memory_size;
  // A copy of the model sees the samples of all the GPUs it spans.
  memory.largest_batch_per_gpu = std::floor(largest_batch_that_fits(job, step, gpu.memory_size) / step.grid.model);
  return memory;
}

std::vector<LayerReport> layer_reports(const PlannedStep& step) {
  std::vector<LayerReport> reports;
  for (std::size_t i = 0; i < step.work.layers.size(); ++i) {
    const LayerWork& layer = step.work.layers[i];
    reports.push_back({.name = layer.name,
                       .kind = layer.kind,
                       .out = to_text(layer.out),
                       .parameters = parameter_count(layer),
                       .activation = layer.output,
                       .error = layer.output,
                       .saved = layer.saved,
                       .forward = step.times[i].forward,
                       .backward = step.times[i].backward});
  }
  return reports;
}

int nodes_used(const Cluster& cluster) {
  std::set<int> nodes;
  for (const DeviceId rank : cluster.ranks) nodes.insert(cluster.topology.device(rank).node);
  return static_cast<int>(nodes.size());
}

void add_rates(Report& report, const Job& job, const ClusterSpec& spec, const PlannedStep& step) {
  const double seconds = report.step_time.count();
  if (job.transfer) {
    report.throughput = 1.0 / seconds;
    return;
  }
  report.throughput = report.global_batch / seconds;
  if (step.tokens_per_sample > 0) {
    report.throughput_tokens = report.throughput * static_cast<double>(step.tokens_per_sample);
  }
  const FlopPerSecond peak = peak_matrix_rate(spec.gpu, job.precision) * report.gpus;
  report.model_flop_utilisation = step.model_flop / report.step_time / peak;
}

}  // namespace

Report summarise(const Job& job, const ClusterSpec& spec, const Cluster& cluster, const PlannedStep& step,
                 const Timeline& timeline) {
  Report report;
  report.model = job.transfer ? "transfer" : job.model.name;
  report.gpu = spec.gpu.name;
  report.machine = spec.machine.name;
  report.framework = job.framework.name;
  report.gpus = static_cast<int>(cluster.ranks.size());
  report.nodes = nodes_used(cluster);
  report.strategy = strategy_in_words(job, step, cluster.ranks.size());
  report.weak_scaling = job.batch.per_gpu;
  report.global_batch = job.transfer ? 0.0 : static_cast<double>(step.batch.global);
  report.batch_per_gpu = report.global_batch / report.gpus;
  report.step_time = timeline.end.since_start();
  const Uncertainty range = uncertainty(job);
  report.step_time_low = report.step_time * (1.0 - range.below);
  report.step_time_high = report.step_time * (1.0 + range.above);
  report.split = step_split(step.plan, timeline);
  add_rates(report, job, spec, step);
  report.exchanged_per_gpu = step.sent_per_gpu;
  report.exchange_uncompressed_per_gpu = step.sent_uncompressed_per_gpu;
  report.links = busiest_links(cluster.topology, timeline);
  if (!job.transfer) report.memory = memory_report(job, step, spec.gpu);
  report.layers = layer_reports(step);
  report.limited_by = limit_in_words(report);
  report.not_modelled = not_modelled(job, spec);
  return report;
}

}  // namespace gpuscale
