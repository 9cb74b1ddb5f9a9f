#include "study/validate_checks.hpp"

#include <array>
#include <fmt/format.h>

#include "study/simulate.hpp"
#include "study/validate_collectives.hpp"
#include "study/validate_kernels.hpp"

namespace gpuscale {

namespace {

std::string_view word_of(Precision precision) { return kPrecisionNames[static_cast<std::size_t>(precision)]; }

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
        result.reason = "tokens are measured, and the samples of the model are no sequences";
        return;
      }
      result.time_measured = report.step_time * (*report.throughput_tokens / row.value);
      break;
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
    case MeasuredKind::speedup:
      break;
  }
  if (result.time_measured) result.time = report.step_time;
}

void check_training(const MeasuredRow& row, const CheckContext& context, RowResult& result) {
  const Scenario scenario = context.base.resolve(context.library, row.settings);
  result.family = scenario.job.model.family;
  result.gpus = scenario.cluster.gpus;
  const Report report = simulate(scenario);
  result.what = fmt::format("{} {} b{:g}, {}x {}", scenario.job.model.id, word_of(scenario.job.precision),
                            report.batch_per_gpu, report.gpus, scenario.cluster.gpu.id);
  if (report.gpus > 1) result.speedup = report.speedup;
  add_measured(row, context.rule.measured, report, result);
}

constexpr std::array<RowCheck, kCheckKindNames.size()> kChecks = {&check_training, &check_collectives,
                                                                  &check_kernel};  // in the order of CheckKind

}  // namespace

RowCheck check_of(CheckKind kind) { return kChecks[static_cast<std::size_t>(kind)]; }

}  // namespace gpuscale
