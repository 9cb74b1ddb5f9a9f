#include "report/fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <type_traits>

namespace gpuscale {

namespace {

/// Counts are whole in most reports and read better so.
FieldValue count(double value) {
  constexpr double kExact = 9007199254740992.0;  // above 2^53 doubles skip integers
  if (value == std::round(value) && std::abs(value) < kExact) return static_cast<std::int64_t>(value);
  return value;
}

FieldValue bytes(Bytes size) { return count(std::round(size.count())); }

FieldValue maybe(const std::optional<double>& value) { return value ? FieldValue(*value) : FieldValue(); }

/// A figure of the comparison with the same job without codec.
template <class Figure>
FieldValue gained(const Report& report, Figure figure) {
  return report.codec_gain ? figure(*report.codec_gain) : FieldValue();
}

constexpr auto kFields = std::to_array<Field>({
    {"scenario", "scenario", [](const Report& r) -> FieldValue { return r.scenario; }, true},
    {"model", "model", [](const Report& r) -> FieldValue { return r.model; }, true},
    {"gpu", "gpu", [](const Report& r) -> FieldValue { return r.gpu; }, true},
    {"machine", "machine", [](const Report& r) -> FieldValue { return r.machine; }, true},
    {"framework", "framework", [](const Report& r) -> FieldValue { return r.framework; }, true},
    {"strategy", "strategy", [](const Report& r) -> FieldValue { return r.strategy; }},
    {"gpus", "gpus", [](const Report& r) -> FieldValue { return std::int64_t{r.gpus}; }, true},
    {"nodes", "nodes", [](const Report& r) -> FieldValue { return std::int64_t{r.nodes}; }, true},
    {"batch_per_gpu", "batch_per_gpu", [](const Report& r) { return count(r.batch_per_gpu); }},
    {"global_batch", "global_batch", [](const Report& r) { return count(r.global_batch); }},
    {"weak_scaling", "weak_scaling", [](const Report& r) -> FieldValue { return r.weak_scaling; }},
    {"step_time_s", "step_time_s", [](const Report& r) -> FieldValue { return r.step_time.count(); }},
    {"step_time_low_s", "step_time_low_s", [](const Report& r) -> FieldValue { return r.step_time_low.count(); }},
    {"step_time_high_s", "step_time_high_s", [](const Report& r) -> FieldValue { return r.step_time_high.count(); }},
    {"throughput_samples_per_s", "throughput_samples_per_s",
     [](const Report& r) -> FieldValue { return r.throughput; }},
    {"throughput_tokens_per_s", "throughput_tokens_per_s", [](const Report& r) { return maybe(r.throughput_tokens); }},
    {"speedup", "speedup", [](const Report& r) { return maybe(r.speedup); }},
    {"efficiency", "efficiency", [](const Report& r) { return maybe(r.efficiency); }},
    {"baseline", "baseline", [](const Report& r) -> FieldValue { return r.baseline; }},
    {"split.compute_s", "compute_s", [](const Report& r) -> FieldValue { return r.split.compute.count(); }},
    {"split.host_s", "host_s", [](const Report& r) -> FieldValue { return r.split.host.count(); }},
    {"split.exchange_exposed_s", "exchange_exposed_s",
     [](const Report& r) -> FieldValue { return r.split.exchange_exposed.count(); }},
    {"split.bubble_s", "bubble_s", [](const Report& r) -> FieldValue { return r.split.bubble.count(); }},
    {"split.input_s", "input_s", [](const Report& r) -> FieldValue { return r.split.input.count(); }},
    {"split.jitter_s", "jitter_s", [](const Report& r) -> FieldValue { return r.split.jitter.count(); }},
    {"model_flop_utilisation", "model_flop_utilisation",
     [](const Report& r) { return maybe(r.model_flop_utilisation); }},
    {"exchanged_bytes_per_gpu", "exchanged_bytes_per_gpu", [](const Report& r) { return bytes(r.exchanged_per_gpu); }},
    {"exchange_uncompressed_bytes_per_gpu", "exchange_uncompressed_bytes_per_gpu",
     [](const Report& r) { return bytes(r.exchange_uncompressed_per_gpu); }},
    {"codec.codecs", "codecs",
     [](const Report& r) { return gained(r, [&](const CodecGain& gain) -> FieldValue { return gain.codecs; }); }},
    {"codec.exchange_s", "codec_exchange_s",
     [](const Report& r) { return gained(r, [&](const CodecGain&) -> FieldValue { return r.exchanging.count(); }); }},
    {"codec.exchange_without_s", "codec_exchange_without_s",
     [](const Report& r) {
       return gained(r, [](const CodecGain& gain) -> FieldValue { return gain.exchanging_without.count(); });
     }},
    {"codec.step_time_without_s", "codec_step_time_without_s",
     [](const Report& r) {
       return gained(r, [](const CodecGain& gain) -> FieldValue { return gain.step_time_without.count(); });
     }},
    {"codec.step_speedup", "codec_step_speedup",
     [](const Report& r) {
       return gained(r, [&](const CodecGain& gain) -> FieldValue { return gain.step_time_without / r.step_time; });
     }},
    {"memory.parameters", "memory_parameters_bytes",
     [](const Report& r) { return bytes(r.memory.footprint.parameters); }},
    {"memory.master_weights", "memory_master_weights_bytes",
     [](const Report& r) { return bytes(r.memory.footprint.master_weights); }},
    {"memory.gradients", "memory_gradients_bytes", [](const Report& r) { return bytes(r.memory.footprint.gradients); }},
    {"memory.optimizer", "memory_optimizer_bytes", [](const Report& r) { return bytes(r.memory.footprint.optimizer); }},
    {"memory.activations", "memory_activations_bytes",
     [](const Report& r) { return bytes(r.memory.footprint.activations); }},
    {"memory.errors", "memory_errors_bytes", [](const Report& r) { return bytes(r.memory.footprint.errors); }},
    {"memory.workspace", "memory_workspace_bytes", [](const Report& r) { return bytes(r.memory.footprint.workspace); }},
    {"memory.exchange", "memory_exchange_bytes", [](const Report& r) { return bytes(r.memory.footprint.exchange); }},
    {"memory.framework", "memory_framework_bytes", [](const Report& r) { return bytes(r.memory.footprint.framework); }},
    {"memory.total", "memory_total_bytes", [](const Report& r) { return bytes(r.memory.footprint.total()); }},
    {"memory.capacity", "memory_capacity_bytes", [](const Report& r) { return bytes(r.memory.capacity); }},
    {"memory.fits", "fits", [](const Report& r) -> FieldValue { return r.memory.fits; }},
    {"memory.largest_batch_per_gpu", "largest_batch_per_gpu",
     [](const Report& r) { return count(r.memory.largest_batch_per_gpu); }},
    {"limited_by", "limited_by", [](const Report& r) -> FieldValue { return r.limited_by; }},
});

}  // namespace

std::span<const Field> report_fields() { return kFields; }

const Field* find_field(std::string_view name) {
  const auto found =
      std::ranges::find_if(kFields, [&](const Field& field) { return field.path == name || field.column == name; });
  return found == kFields.end() ? nullptr : &*found;
}

FieldValue value_of(const Field& field, const Report& report) {
  return is_refused(report) && !field.asked ? FieldValue() : field.value(report);
}

std::string plain_text(const FieldValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<T, bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else {
          return fmt::format("{}", v);
        }
      },
      value);
}

}  // namespace gpuscale
