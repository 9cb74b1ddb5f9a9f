#include "report/summarise.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "hardware/gpu.hpp"
#include "report/limits.hpp"
#include "report/step_memory.hpp"
#include "report/strategy_words.hpp"
#include "report/uncertainty.hpp"
#include "topology/cards.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kLinksShown = 8;

Seconds of(const StepTimes& times, Activity activity) { return times[static_cast<std::size_t>(activity)]; }

/// Over how many steps the report looks.
double steps_seen(const PlannedStep& step) { return step.steady ? step.steady->steps : step.steps; }

Seconds time_seen(const PlannedStep& step, const Timeline& timeline) {
  if (!step.steady) return timeline.end.since_start();
  return timeline.tasks[step.steady->to.index()].end - timeline.tasks[step.steady->from.index()].end;
}

/// What an average rank would take of a part of the step; the rest the others wait for the slowest.
void wait_for_slowest(Seconds& part, StepSplit& split, double slowest) {
  const Seconds of_average = part / slowest;
  split.jitter += part - of_average;
  part = of_average;
}

StepSplit step_split(const Job& job, const PathTimes& path, const PlannedStep& step) {
  const StepTimes& split = path.activities;
  const double steps = steps_seen(step);
  StepSplit result{.compute = of(split, Activity::compute) / steps,
                   .host = of(split, Activity::host) / steps,
                   .exchange_exposed = of(split, Activity::exchange) / steps,
                   .bubble = of(split, Activity::wait) / steps,
                   .input = of(split, Activity::input) / steps,
                   .jitter = {}};
  if (step.grid.pipeline > 1) {
    // The path leads through compute of one stage and another: what the busiest does not do itself, it waits for.
    const Seconds own = std::min(result.compute, busiest_compute(step.plan) / static_cast<double>(step.steps));
    result.bubble += result.compute - own;
    result.compute = own;
  }
  wait_for_slowest(result.compute, result, job.slowest_scale);
  if (!job.framework.host.shared) wait_for_slowest(result.host, result, job.slowest_scale);
  return result;
}

/// What is sent for a purpose by the stage that sends most of it.
void add_sent(std::vector<ExchangeReport>& reports, const SentBytes& sent) {
  auto entry = std::ranges::find(reports, sent.purpose, &ExchangeReport::purpose);
  if (entry == reports.end()) {
    entry = reports.insert(reports.end(), {.purpose = sent.purpose, .exposed = {}, .sent = {}, .uncompressed = {}});
  }
  if (sent.plain < entry->uncompressed) return;
  entry->sent = sent.encoded;
  entry->uncompressed = sent.plain;
}

/// What exchanges do beside sending, such as sums on a parameter server, where the step waits for it noticeably.
void add_work(std::vector<ExchangeReport>& reports, const PathTimes& path, const PlannedStep& step) {
  constexpr double kNoticeable = 0.01;
  constexpr std::string_view kSent = " exchange";
  Seconds all;
  for (const auto& [label, time] : path.exchanges) all += time;
  for (const auto& [label, time] : path.exchanges) {
    if (label == kSlowedCompute || label.ends_with(kSent) || time < all * kNoticeable) continue;
    reports.push_back({.purpose = label, .exposed = time / steps_seen(step), .sent = {}, .uncompressed = {}});
  }
}

std::vector<ExchangeReport> exchange_reports(const PathTimes& path, const PlannedStep& step) {
  std::vector<ExchangeReport> reports;
  for (const SentBytes& sent : step.sent) add_sent(reports, sent);
  for (ExchangeReport& report : reports) {
    const auto exposed = path.exchanges.find(report.purpose + " exchange");
    if (exposed != path.exchanges.end()) report.exposed = exposed->second / steps_seen(step);
    report.sent = report.sent / static_cast<double>(step.steps);
    report.uncompressed = report.uncompressed / static_cast<double>(step.steps);
  }
  add_work(reports, path, step);
  std::ranges::stable_sort(reports, std::ranges::greater(), &ExchangeReport::exposed);
  if (const auto slowed = path.exchanges.find(std::string(kSlowedCompute)); slowed != path.exchanges.end()) {
    reports.push_back(
        {.purpose = slowed->first, .exposed = slowed->second / steps_seen(step), .sent = {}, .uncompressed = {}});
  }
  return reports;
}

std::vector<LinkLoad> busiest_links(const Topology& topology, const PlannedStep& step, const Timeline& timeline) {
  std::vector<LinkLoad> loads;
  const Seconds one = time_seen(step, timeline) / steps_seen(step);
  for (std::size_t i = 0; i < timeline.channels.size(); ++i) {
    const std::size_t like = step.stands_for.empty() ? i : step.stands_for[i].index();
    const Bytes carried = timeline.channels[like].carried / static_cast<double>(step.steps);
    if (carried.count() <= 0) continue;
    const Channel& channel = topology.channels()[i];
    const Seconds full = carried / channel.rate;
    loads.push_back({channel.name, carried / channel.counts, std::min(1.0, full / one)});
  }
  std::ranges::stable_sort(loads, std::ranges::greater(), &LinkLoad::load);
  if (loads.size() > kLinksShown) loads.resize(kLinksShown);
  return loads;
}

/// On the first rank, were it an average card.
std::vector<LayerReport> layer_reports(const Job& job, const PlannedStep& step) {
  std::vector<LayerReport> reports;
  if (step.kinds.empty()) return reports;
  const KindOfRank& first = step.kinds.front();
  const ModelWork& work = step.work_of(first);
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    const LayerWork& layer = work.layers[i];
    reports.push_back({.name = layer.name,
                       .kind = layer.kind,
                       .out = to_text(layer.out),
                       .parameters = parameter_count(layer),
                       .activation = layer.output,
                       .error = layer.output,
                       .saved = layer.saved,
                       .forward = first.times[i].forward / job.slowest_scale,
                       .backward = first.times[i].backward / job.slowest_scale});
  }
  return reports;
}

/// When the last task ended that does not belong to the update of the weights.
Seconds before_update(const PlannedStep& step, const Timeline& timeline) {
  Time last;
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i) {
    if (step.plan.label(TaskId(i)) != kUpdateLabel) last = std::max(last, timeline.tasks[i].end);
  }
  return last.since_start();
}

int nodes_used(const Cluster& cluster) {
  std::set<int> nodes;
  for (const DeviceId rank : cluster.ranks) nodes.insert(cluster.topology.device(rank).node);
  return static_cast<int>(nodes.size());
}

/// Samples a second of jobs that do not wait for each other, each at its own pace.
double independent_throughput(const PlannedStep& step, const Timeline& timeline) {
  Time input;
  for (std::size_t i = 0; i < timeline.tasks.size(); ++i) {
    if (step.plan.task(TaskId(i)).activity == Activity::input) input = std::max(input, timeline.tasks[i].end);
  }
  double throughput = 0;
  for (const KindOfRank& kind : step.kinds) {
    Time end = input;
    for (const TaskId last : kind.last) end = std::max(end, timeline.tasks[last.index()].end);
    throughput += static_cast<double>(kind.ranks) * static_cast<double>(kind.kind.samples) / end.since_start().count();
  }
  return throughput;
}

std::vector<CardReport> card_reports(const Job& job, const ClusterSpec& spec, const PlannedStep& step) {
  std::vector<CardReport> reports;
  if (spec.other_cards.empty() || job.transfer) return reports;
  const std::vector<Footprint> memory = memory_by_card(job, step, spec);
  const std::vector<Seconds> compute = compute_of_lanes(step.plan);
  for (std::size_t number = 0; number < card_kinds(spec); ++number) {
    const Gpu& gpu = card(spec, number);
    CardReport report{.gpu = gpu.name, .memory = memory[number].total(), .capacity = gpu.memory_size};
    report.fits = report.memory <= report.capacity;
    for (const KindOfRank& kind : step.kinds) {
      if (kind.kind.card != number) continue;
      const double batch = static_cast<double>(kind.kind.samples) / step.grid.replica();
      report.least_batch = report.gpus == 0 ? batch : std::min(report.least_batch, batch);
      report.most_batch = std::max(report.most_batch, batch);
      report.gpus += static_cast<int>(kind.ranks);
      for (const LaneId lane : kind.lanes) report.compute = std::max(report.compute, compute[lane.index()]);
    }
    report.compute = report.compute / static_cast<double>(step.steps);
    reports.push_back(std::move(report));
  }
  return reports;
}

FlopPerSecond peak_of_all(const Job& job, const ClusterSpec& spec, const PlannedStep& step) {
  std::vector<double> ranks(card_kinds(spec), 0.0);
  for (const KindOfRank& kind : step.kinds) ranks[kind.kind.card] += static_cast<double>(kind.ranks);
  FlopPerSecond peak;
  for (std::size_t kind = 0; kind < ranks.size(); ++kind)
    peak += peak_matrix_rate(card(spec, kind), job.precision) * ranks[kind];
  return peak;
}

void add_rates(Report& report, const Job& job, const ClusterSpec& spec, const PlannedStep& step,
               const Timeline& timeline) {
  const double seconds = report.step_time.count();
  if (job.transfer) {
    report.throughput = 1.0 / seconds;
    return;
  }
  const bool own_pace = job.parallel.independent && step.kinds.size() > 1;
  report.throughput = own_pace ? independent_throughput(step, timeline) : report.global_batch / seconds;
  if (step.tokens_per_sample > 0) {
    report.throughput_tokens = report.throughput * static_cast<double>(step.tokens_per_sample);
  }
  // Of what is computed in a second: jobs of their own pace do not wait for the slowest.
  const double pace = own_pace ? report.throughput * seconds / report.global_batch : 1.0;
  report.model_flop_utilisation = step.model_flop / report.step_time / peak_of_all(job, spec, step) * pace;
}

}  // namespace

Report summarise(const Job& job, const ClusterSpec& spec, const Cluster& cluster, const PlannedStep& step,
                 const Timeline& timeline) {
  Report report;
  report.model = job.transfer ? "transfer" : job.model.name;
  report.gpu = cards_in_words(spec);
  report.unlike_gpus = !spec.other_cards.empty();
  report.machine = spec.machine.name;
  report.framework = job.framework.name;
  report.gpus = static_cast<int>(cluster.ranks.size());
  report.nodes = nodes_used(cluster);
  report.strategy = strategy_in_words(job, step);
  report.weak_scaling = job.batch.per_gpu;
  report.global_batch = job.transfer ? 0.0 : static_cast<double>(step.batch.global);
  report.batch_per_gpu = report.global_batch / report.gpus;
  report.step_time = time_seen(step, timeline) / steps_seen(step);
  report.passes_time = step.steps == 1 ? before_update(step, timeline) : report.step_time;
  const Uncertainty range = uncertainty(job);
  report.step_time_low = report.step_time * (1.0 - range.below);
  report.step_time_high = report.step_time * (1.0 + range.above);
  const PathTimes path = step.steady ? path_times(step.plan, timeline, step.steady->from, step.steady->to)
                                     : path_times(step.plan, timeline);
  report.split = step_split(job, path, step);
  if (!job.transfer) report.exchanges = exchange_reports(path, step);
  report.exchanging = time_with(step.plan, timeline, Activity::exchange) / static_cast<double>(step.steps);
  add_rates(report, job, spec, step, timeline);
  report.exchanged_per_gpu = step.sent_per_gpu / static_cast<double>(step.steps);
  report.exchange_uncompressed_per_gpu = step.sent_uncompressed_per_gpu / static_cast<double>(step.steps);
  report.links = busiest_links(cluster.topology, step, timeline);
  if (!job.transfer) report.memory = memory_report(job, step, spec);
  report.cards = card_reports(job, spec, step);
  report.layers = layer_reports(job, step);
  report.limited_by = limit_in_words(report);
  report.not_modelled = not_modelled(job, spec);
  return report;
}

}  // namespace gpuscale
