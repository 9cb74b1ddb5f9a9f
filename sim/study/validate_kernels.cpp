#include "study/validate_kernels.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "hardware/kernel_time.hpp"
#include "scenario/gpu_reader.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_parse.hpp"
#include "study/kernel_shape.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

[[noreturn]] void refuse(std::string text) { throw ScenarioError({{{}, std::move(text)}}); }

const Setting& setting(const MeasuredRow& row, std::string_view path) {
  const auto found = std::ranges::find(row.settings, path, &Setting::path);
  if (found == row.settings.end()) refuse(fmt::format("no {}", path));
  return *found;
}

std::string text_of(const MeasuredRow& row, std::string_view path) {
  return parse_yaml_value(setting(row, path).value, std::string(path)).root.text;
}

Gpu gpu_of(const MeasuredRow& row, const Library& library) {
  const YamlDocument document = parse_yaml_value(setting(row, "gpu").value, "gpu");
  Reading reading(library);
  Gpu gpu = read_gpu(document.root, "gpu", reading);
  if (!reading.problems().empty()) throw ScenarioError(reading.problems());
  return gpu;
}

Precision precision_of(const MeasuredRow& row) {
  const std::string text = text_of(row, "precision");
  const auto found = std::ranges::find(kPrecisionNames, text);
  if (found == kPrecisionNames.end()) refuse(fmt::format("{} is no precision", in_quotes(text)));
  return static_cast<Precision>(found - kPrecisionNames.begin());
}

}  // namespace

KernelCase kernel_case(const MeasuredRow& row, const Library& library) {
  return {.gpu = gpu_of(row, library),
          .precision = precision_of(row),
          .kernels = kernels_of(text_of(row, "kernel"), text_of(row, "shape"))};
}

Seconds kernel_time(const KernelCase& measured) {
  Seconds total;
  for (const Kernel& kernel : measured.kernels) total += kernel_time(measured.gpu, kernel, measured.precision);
  return total;
}

Seconds roofline_time(const KernelCase& measured) {
  Seconds total;
  for (const Kernel& kernel : measured.kernels) {
    total += std::max(flop(kernel) / peak_matrix_rate(measured.gpu, measured.precision),
                      least_traffic(kernel, measured.precision) / measured.gpu.memory_bandwidth);
  }
  return total;
}

void check_kernel(const MeasuredRow& row, const CheckContext& context, RowResult& result) {
  if (row.kind != MeasuredKind::time) refuse("the time of a kernel is wanted, and something else is measured");
  const KernelCase measured = kernel_case(row, context.library);
  result.card = measured.gpu.id;
  result.what = fmt::format("{} {}, {}", text_of(row, "kernel"), text_of(row, "shape"), measured.gpu.id);
  result.time = kernel_time(measured);
  result.time_measured = Seconds(row.value * context.rule.measured.unit);
  result.time_baseline = roofline_time(measured);
}

}  // namespace gpuscale
