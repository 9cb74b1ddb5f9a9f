#include "scenario/strategy_reader.hpp"

#include <array>
#include <cstdint>
#include <fmt/format.h>

#include "scenario/cluster_reader.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::array<std::string_view, 5> kCodecNames = {"none", "fp16", "int8", "one_bit", "top_k"};
constexpr std::int64_t kMostDegree = 1'000'000'000;

CodecKind codec_or_none(MapReader& reader, std::string_view key) {
  const YamlValue* value = reader.find(key);
  return value == nullptr ? CodecKind::none : read_codec(*value, reader.reading()).value_or(CodecKind::none);
}

/// A way of splitting that is in the grammar and not yet in the program: only its neutral value is taken.
void refuse_beyond(const YamlValue* value, std::string_view key, std::int64_t neutral, Reading& reading) {
  if (value == nullptr) return;
  const std::optional<std::int64_t> degree = read_whole(*value, 0, kMostDegree, reading);
  if (!degree || *degree == neutral) return;
  reading.note(value->place(),
               fmt::format("this version of gpuscale does not split by '{}' yet; leave it at {} and use "
                           "'data' and 'model'",
                           key, neutral));
}

void read_pipeline(MapReader& strategy) {
  const YamlValue* value = strategy.find("pipeline");
  if (value == nullptr) return;
  if (value->is_scalar()) {
    refuse_beyond(value, "pipeline", 1, strategy.reading());
    return;
  }
  MapReader reader(*value, "strategy pipeline", strategy.path("pipeline"), strategy.reading());
  refuse_beyond(reader.find("stages"), "pipeline.stages", 1, strategy.reading());
  refuse_beyond(reader.find("microbatches"), "pipeline.microbatches", 1, strategy.reading());
  constexpr std::array<std::string_view, 4> kSchedules = {"1f1b", "gpipe", "interleaved", "zero_bubble"};
  static_cast<void>(reader.choice_or("schedule", kSchedules, 0));  // one stage has no schedule
  reader.finish();
}

void read_later_ways(MapReader& strategy) {
  for (const std::string_view key : {"tensor", "expert", "context"}) {
    refuse_beyond(strategy.find(key), key, 1, strategy.reading());
  }
  refuse_beyond(strategy.find("zero"), "zero", 0, strategy.reading());
  read_pipeline(strategy);
  const YamlValue* group = strategy.find("shard_group");
  constexpr std::array<std::string_view, 2> kGroups = {"all", "node"};
  if (group == nullptr) return;
  if (read_choice(*group, "shard_group", kGroups, strategy.reading()) == 1U) {
    strategy.reading().note(group->place(),
                            "this version of gpuscale does not shard yet; leave 'shard_group' out and use "
                            "'data' and 'model'");
  }
}

ModelSplitConfig read_model_split(MapReader& strategy) {
  ModelSplitConfig split;
  const YamlValue* value = strategy.find("model");
  if (value == nullptr) return split;
  if (value->is_scalar()) {
    split.degree = static_cast<int>(read_whole(*value, 1, kMostGpus, strategy.reading()).value_or(1));
    return split;
  }
  MapReader reader(*value, "strategy model", strategy.path("model"), strategy.reading());
  split.degree = static_cast<int>(reader.whole("degree", 1, kMostGpus));
  if (reader.find("sub_batch") != nullptr) split.sub_batch = reader.whole("sub_batch", 1, kMostDegree);
  split.codec = codec_or_none(reader, "codec");
  reader.finish();
  return split;
}

ExchangeConfig read_exchange_config(MapReader& strategy) {
  ExchangeConfig exchange;
  const YamlValue* value = strategy.find("exchange");
  if (value == nullptr) return exchange;
  MapReader reader(*value, "strategy exchange", strategy.path("exchange"), strategy.reading());
  exchange.algorithm = static_cast<ExchangeAlgorithm>(reader.choice_or("algorithm", kExchangeAlgorithmNames, 0));
  exchange.fidelity = static_cast<Fidelity>(reader.choice_or("fidelity", kFidelityNames, 0));
  exchange.bucket = reader.optional_quantity<Bytes>("bucket");
  if (reader.find("overlap") != nullptr) exchange.overlap = reader.boolean_or("overlap", true);
  exchange.codec = codec_or_none(reader, "codec");
  reader.finish();
  return exchange;
}

}  // namespace

std::optional<CodecKind> read_codec(const YamlValue& value, Reading& reading) {
  if (value.is_scalar() && (value.text == "1-bit" || value.text == "1bit")) return CodecKind::one_bit;
  if (value.is_scalar() && value.text == "top-k") return CodecKind::top_k;
  const std::optional<std::size_t> index = read_choice(value, "codec", kCodecNames, reading);
  return index ? std::optional<CodecKind>(static_cast<CodecKind>(*index)) : std::nullopt;
}

ParallelConfig read_strategy(const YamlValue& value, Reading& reading) {
  ParallelConfig parallel;
  MapReader reader(value, "strategy", "strategy", reading);
  if (const YamlValue* data = reader.find("data")) {
    const bool is_auto = data->is_scalar() && data->text == "auto";
    if (!is_auto) parallel.data = static_cast<int>(read_whole(*data, 1, kMostGpus, reading).value_or(0));
  }
  parallel.model = read_model_split(reader);
  parallel.independent = reader.boolean_or("independent", false);
  parallel.exchange = read_exchange_config(reader);
  read_later_ways(reader);
  reader.finish();
  return parallel;
}

}  // namespace gpuscale
