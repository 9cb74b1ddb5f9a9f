#include "study/validate_checks.hpp"

#include <array>
#include <fmt/format.h>

#include "study/simulate.hpp"
#include "study/validate_collectives.hpp"
#include "study/validate_kernels.hpp"

namespace gpuscale {

namespace {

std::string_view word_of(Precision precision) { return kPrecisionNames[static_cast<std::size_t>(precision)]; }

constexpr std::string_view kNoTokens = "tokens are measured, and the samples of the model are no sequences";

Bytes memory_of(const Report& report, MeasuredKind kind) {
  const Footprint& footprint = report.memory.footprint;
  return kind == MeasuredKind::activation_memory ? footprint.activations : footprint.total() - footprint.framework;
}

/// The job with the rule's other settings.
Report other_job(const MeasuredRow& row, const CheckContext& context) {
  std::vector<Setting> settings = row.settings;
  for (const Setting& setting : row.other_settings) {
    std::erase_if(settings, [&](const Setting& other) { return other.path == setting.path; });
    settings.push_back(setting);
  }
  return simulate_step(context.base.resolve(context.library, settings));
}

/// Bytes, or percent of what another job takes.
void add_memory(const MeasuredRow& row, const CheckContext& context, const Report& report, RowResult& result) {
  const Bytes ours = memory_of(report, row.kind);
  if (row.other_settings.empty()) {
    result.memory = ours.count();
    result.memory_measured = row.value * context.rule.measured.unit;
    return;
  }
  constexpr double kPercent = 100.0;
  result.memory = kPercent * (ours / memory_of(other_job(row, context), row.kind));
  result.memory_measured = row.value;
  result.memory_in_percent = true;
}

/// What the row measured, in the terms of our report.
void add_measured(const MeasuredRow& row, const MeasuredRule& rule, const Report& report, RowResult& result) {
  switch (row.kind) {
    case MeasuredKind::throughput:
      result.rate_measured = row.value;
      result.time_measured = Seconds(report.global_batch / row.value);
      break;
    case MeasuredKind::tokens_per_s:
      result.rate_measured = row.value;
      if (!report.throughput_tokens) {
        result.reason = kNoTokens;
        return;
      }
      result.time_measured = report.step_time * (*report.throughput_tokens / row.value);
      break;
    case MeasuredKind::tokens_per_gpu:
      result.rate_measured = row.value * report.gpus;
      if (!report.throughput_tokens) {
        result.reason = kNoTokens;
        return;
      }
      result.time_measured = report.step_time * (*report.throughput_tokens / *result.rate_measured);
      break;
    case MeasuredKind::passes_time:
      result.time_measured = Seconds(row.value * rule.unit);
      result.time = report.passes_time;
      return;
    case MeasuredKind::peak_memory:
    case MeasuredKind::activation_memory:
      return;  // see add_memory
    case MeasuredKind::step_time:
      result.time_measured = Seconds(row.value * rule.unit);
      result.rate_measured = report.global_batch / result.time_measured->count();
      break;
    case MeasuredKind::time_for_samples:
      result.rate_measured = rule.samples / (row.value * rule.unit);
      result.time_measured = Seconds(report.global_batch / *result.rate_measured);
      break;
    case MeasuredKind::time:
      result.reason = "a time without its meaning is measured; write step_time or time_for_samples";
      return;
    case MeasuredKind::rate:
      result.reason = "a rate of bytes is measured, which a training step has not";
      return;
    case MeasuredKind::speedup:
    case MeasuredKind::gain:
      break;
  }
  if (result.time_measured) result.time = report.step_time;
}

void check_training(const MeasuredRow& row, const CheckContext& context, RowResult& result) {
  const Scenario scenario = context.base.resolve(context.library, row.settings);
  result.family = scenario.job.model.family;
  result.gpus = scenario.cluster.gpus;
  const bool compares = context.rule.alone || row.kind == MeasuredKind::speedup;
  const Report report = compares ? simulate(scenario) : simulate_step(scenario);
  result.what = fmt::format("{} {} b{:g}, {}x {}", scenario.job.model.id, word_of(scenario.job.precision),
                            report.batch_per_gpu, report.gpus, scenario.cluster.gpu.id);
  if (report.gpus > 1) result.speedup = report.speedup;
  result.is_gain = row.kind == MeasuredKind::gain;
  if (result.is_gain) result.speedup = other_job(row, context).step_time / report.step_time;
  if (is_memory(row.kind)) add_memory(row, context, report, result);
  add_measured(row, context.rule.measured, report, result);
}

constexpr std::array<RowCheck, kCheckKindNames.size()> kChecks = {&check_training, &check_collectives,
                                                                  &check_kernel};  // in the order of CheckKind

}  // namespace

RowCheck check_of(CheckKind kind) { return kChecks[static_cast<std::size_t>(kind)]; }

}  // namespace gpuscale
