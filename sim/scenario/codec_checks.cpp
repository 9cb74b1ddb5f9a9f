#include "scenario/codec_checks.hpp"

#include <array>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collective/codec.hpp"
#include "scenario/framework_reader.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

struct Activations {
  std::string_view key;
  CodecKind kind;
};

/// Narrower codecs than numbers of a width: "none, int8, int4 or one_bit".
std::string narrower(double bits, bool gradients) {
  std::vector<std::string_view> names = {"none"};
  for (const Codec& code : codecs()) {
    const bool drops = code.kind == CodecKind::top_k || code.kind == CodecKind::low_rank;
    const bool narrow = code.bits_per_value < bits || code.kind == CodecKind::low_rank;
    if (code.kind != CodecKind::none && narrow && (gradients || !drops)) names.push_back(code.name);
  }
  return one_of(names);
}

/// A codec must make numbers of this size narrower; the factors of low_rank are not counted by the number.
void check_width(std::string_view key, CodecKind kind, Bytes number, std::string_view numbers, std::string_view ways,
                 Reading& reading) {
  const Codec& code = codec(kind);
  const double bits = number.count() * 8.0;
  if (kind == CodecKind::none || code.sum == CodecSum::factors || code.bits_per_value < bits) return;
  reading.note(reading.place_of(key), fmt::format("{} would save nothing: {} have {:.0f} bits already; let {} be {}",
                                                  code.name, numbers, bits, key, ways));
}

/// Gradients travel in fp32, or as they are computed if the framework is compact; averages of parameters in fp32.
void check_widths(const Scenario& scenario, const SoundParts& sound, std::span<const Activations> activations,
                  Reading& reading) {
  if (!sound.workload) return;
  const Job& job = scenario.job;
  if (job.transfer) {
    const Bytes copied = storage_size(job.precision);
    return check_width("strategy.exchange.codec", job.parallel.exchange.codec, copied,
                       fmt::format("numbers in {}", name(job.precision)), narrower(copied.count() * 8.0, true),
                       reading);
  }
  const Bytes computed = activation_size(job.precision);
  for (const Activations& sent : activations) {
    check_width(sent.key, sent.kind, computed, fmt::format("activations in {}", name(job.precision)),
                narrower(computed.count() * 8.0, false), reading);
  }
  if (!sound.framework || !job.framework.exchange.compact || job.parallel.average_every > 1) return;
  const bool sums_only = job.parallel.shard.stage > 0;  // which no narrower codec can do
  check_width("strategy.exchange.codec", job.parallel.exchange.codec, computed,
              fmt::format("gradients, which {} sends in {},", in_words(job.framework), name(job.precision)),
              sums_only ? "none" : narrower(computed.count() * 8.0, true), reading);
}

}  // namespace

void check_codecs(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  const ParallelConfig& parallel = scenario.job.parallel;
  const std::array<Activations, 3> activations = {{{"strategy.model.codec", parallel.model.codec},
                                                   {"strategy.tensor.codec", parallel.tensor.codec},
                                                   {"strategy.pipeline.codec", parallel.pipeline.codec}}};
  check_widths(scenario, sound, activations, reading);
  for (const auto& [key, kind] : activations) {
    if (kind != CodecKind::top_k && kind != CodecKind::low_rank) continue;
    reading.note(reading.place_of(key),
                 fmt::format("{} drops what later steps make good, and activations have no later step; write none, "
                             "fp16, bf16, int8, int4 or one_bit",
                             codec(kind).name));
  }
  ExchangeAlgorithm algorithm = parallel.exchange.algorithm;
  if (algorithm == ExchangeAlgorithm::automatic && sound.framework)
    algorithm = scenario.job.framework.exchange.algorithm;
  const CodecKind codec_kind = parallel.exchange.codec;
  const bool summed = codec(codec_kind).sum == CodecSum::in_flight;
  if (moves_whole_tensors(algorithm) && codec(codec_kind).sum == CodecSum::factors) {
    reading.note(
        reading.place_of("strategy.exchange.codec"),
        fmt::format("{} sums factors among all ranks, which {} has no sums for; write 'algorithm: ring' or auto",
                    codec(codec_kind).name, name(algorithm)));
  }
  if (parallel.exchange.delayed && (algorithm == ExchangeAlgorithm::gather || parallel.average_every > 1)) {
    reading.note(reading.place_of("strategy.exchange.delayed"),
                 algorithm == ExchangeAlgorithm::gather
                     ? "the gather exchange is a part of each step and cannot be a step late; leave 'delayed' out"
                     : "averages of parameters are not gradients of the step before; leave 'delayed' out");
  }
  if (algorithm == ExchangeAlgorithm::gather && !summed) {
    reading.note(reading.place_of("strategy.exchange.codec"),
                 fmt::format("the gather exchange sums plain numbers on one GPU and cannot decode {}; use ring, "
                             "parameter_server_cpu or parameter_server_gpu, or the codec none or fp16",
                             codec(codec_kind).name));
  }
  if (parallel.shard.stage > 0 && !summed) {
    reading.note(
        reading.place_of("strategy.exchange.codec"),
        fmt::format("sums that are scattered ('zero: {}') travel as numbers, not as {}; write 'zero: 0', or the "
                    "codec none or fp16",
                    parallel.shard.stage, codec(codec_kind).name));
  }
}

}  // namespace gpuscale
