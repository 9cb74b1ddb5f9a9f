#include "samples.hpp"

#include <fmt/format.h>
#include <optional>
#include <utility>

#include "import/csv.hpp"
#include "scenario/validation_rule.hpp"
#include "study/validate_rows.hpp"

namespace gpuscale::fit {

namespace {

template <class Use>
void for_each_row(const std::filesystem::path& rules, const Library& library, CheckKind check, Use use) {
  for (const ValidationRule& rule : read_validation_rules(rules, library)) {
    if (rule.check != check) continue;
    for (const MeasuredRow& row : measured_rows(rule, read_csv(rule.data))) {
      if (!row.reason.empty()) continue;
      try {
        use(rule, row);
      } catch (const ScenarioError&) {  // a row that cannot be used
      }
    }
  }
}

std::string text_of(const MeasuredRow& row, std::string_view path) {
  for (const Setting& setting : row.settings) {
    if (setting.path == path) return setting.value;
  }
  return {};
}

/// Samples a second on one card, if that is what the row measured.
std::optional<double> rate_of(const MeasuredRow& row, const MeasuredRule& rule, const Job& job) {
  const auto batch = static_cast<double>(job.batch.samples);
  switch (row.kind) {
    case MeasuredKind::throughput:
      return row.value;
    case MeasuredKind::step_time:
      return batch / (row.value * rule.unit);
    case MeasuredKind::time_for_samples:
      return rule.samples / (row.value * rule.unit);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<Sample> read_samples(const std::filesystem::path& rules, const Library& library) {
  std::vector<Sample> samples;
  for_each_row(rules, library, CheckKind::kernels, [&](const ValidationRule& rule, const MeasuredRow& row) {
    KernelCase kernel = kernel_case(row, library);
    const bool matrix = on_matrix_units(kernel.gpu, kernel.precision);
    samples.push_back({.id = row.id,
                       .class_name = row.class_name,
                       .what = fmt::format("{} {}", text_of(row, "kernel"), text_of(row, "shape")),
                       .matrix = matrix,
                       .kernel = std::move(kernel),
                       .measured = Seconds(row.value * rule.measured.unit)});
  });
  return samples;
}

std::vector<Step> read_steps(const std::filesystem::path& rules, const Library& library) {
  std::vector<Step> steps;
  const ScenarioFile base = ScenarioFile::parse("description: a measured row\n", "row");
  for_each_row(rules, library, CheckKind::training, [&](const ValidationRule& rule, const MeasuredRow& row) {
    if (row.gpus != 1) return;
    Scenario scenario = base.resolve(library, row.settings);
    const std::optional<double> rate = rate_of(row, rule.measured, scenario.job);
    if (!rate) return;
    std::string what = fmt::format("{} {} {} {}, {}", rule.name, scenario.job.model.id,
                                   kPrecisionNames[static_cast<std::size_t>(scenario.job.precision)],
                                   scenario.cluster.gpu.id, scenario.job.framework.id);
    steps.push_back({row.id, rule.name, std::move(what), std::move(scenario), *rate});
  });
  return steps;
}

}  // namespace gpuscale::fit
