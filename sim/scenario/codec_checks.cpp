#include "scenario/codec_checks.hpp"

#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "collective/codec.hpp"

namespace gpuscale {

void check_codecs(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  const ParallelConfig& parallel = scenario.job.parallel;
  const std::pair<std::string_view, CodecKind> activations[] = {{"strategy.model.codec", parallel.model.codec},
                                                                {"strategy.tensor.codec", parallel.tensor.codec},
                                                                {"strategy.pipeline.codec", parallel.pipeline.codec}};
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
