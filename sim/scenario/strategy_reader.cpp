#include "scenario/strategy_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "scenario/cluster_reader.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::array<std::string_view, 8> kCodecNames = {"none", "fp16",    "bf16",  "int8",
                                                         "int4", "one_bit", "top_k", "low_rank"};
constexpr std::int64_t kMostDegree = 1'000'000'000;

CodecKind codec_or_none(MapReader& reader, std::string_view key) {
  const YamlValue* value = reader.find(key);
  return value == nullptr ? CodecKind::none : read_codec(*value, reader.reading()).value_or(CodecKind::none);
}

/// A degree, or a map that has one and more; null if the key is not there, or after the short form was read.
std::optional<MapReader> degree_or_map(MapReader& strategy, std::string_view key, std::string_view degree_key,
                                       int& degree) {
  const YamlValue* value = strategy.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_scalar()) {
    degree = static_cast<int>(read_whole(*value, 1, kMostGpus, strategy.reading()).value_or(1));
    return std::nullopt;
  }
  MapReader reader(*value, fmt::format("strategy {}", key), strategy.path(key), strategy.reading());
  degree = static_cast<int>(reader.whole_or(degree_key, 1, 1, kMostGpus));
  return reader;
}

TensorConfig read_tensor(MapReader& strategy) {
  TensorConfig tensor;
  std::optional<MapReader> reader = degree_or_map(strategy, "tensor", "degree", tensor.degree);
  if (!reader) return tensor;
  constexpr double kMostOverlap = 0.99;
  tensor.sequence_parallel = reader->boolean_or("sequence_parallel", false);
  tensor.overlap = reader->number_or("overlap", 0.0, 0.0, kMostOverlap);
  tensor.codec = codec_or_none(*reader, "codec");
  reader->finish();
  return tensor;
}

ContextConfig read_context(MapReader& strategy) {
  ContextConfig context;
  std::optional<MapReader> reader = degree_or_map(strategy, "context", "degree", context.degree);
  if (!reader) return context;
  context.balanced = reader->boolean_or("balanced", true);
  context.method = static_cast<ContextMethod>(reader->choice_or("method", kContextMethodNames, 0));
  reader->finish();
  return context;
}

ExpertConfig read_expert(MapReader& strategy) {
  ExpertConfig expert;
  std::optional<MapReader> reader = degree_or_map(strategy, "expert", "degree", expert.degree);
  if (!reader) return expert;
  constexpr double kMostImbalance = 1000.0;
  expert.imbalance = reader->number_or("imbalance", 1.0, 1.0, kMostImbalance);
  reader->finish();
  return expert;
}

std::vector<std::int64_t> read_split(const YamlValue& value, Reading& reading) {
  std::vector<std::int64_t> split;
  if (!value.is_list() || value.items.empty()) {
    reading.note(value.place(), "'split' must be a list of the blocks of each part, such as [12, 13, 13, 10]");
    return split;
  }
  for (const YamlValue& item : value.items) split.push_back(read_whole(item, 1, kMostDegree, reading).value_or(1));
  return split;
}

PipelineConfig read_pipeline(MapReader& strategy) {
  PipelineConfig pipeline;
  std::optional<MapReader> reader = degree_or_map(strategy, "pipeline", "stages", pipeline.stages);
  if (!reader) return pipeline;
  pipeline.microbatches = reader->whole_or("microbatches", 1, 1, kMostDegree);
  if (const YamlValue* samples = reader->find("micro_batch")) {
    pipeline.micro_batch = read_whole(*samples, 1, kMostDegree, strategy.reading()).value_or(1);
    if (reader->find("microbatches") != nullptr) {
      strategy.reading().note(samples->place(), "'micro_batch' and 'microbatches' say the same; leave one of them out");
    }
  }
  pipeline.schedule = static_cast<PipelineSchedule>(reader->choice_or("schedule", kPipelineScheduleNames, 0));
  const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
  pipeline.chunks = static_cast<int>(reader->whole_or("chunks", interleaved ? 2 : 1, 1, kMostGpus));
  if (pipeline.chunks > 1 && !interleaved) {
    strategy.reading().note(reader->place("chunks"),
                            "only the schedule interleaved puts several parts of the model on a stage; write "
                            "'schedule: interleaved' or leave 'chunks' out");
  }
  if (const YamlValue* split = reader->find("split")) pipeline.split = read_split(*split, strategy.reading());
  pipeline.codec = codec_or_none(*reader, "codec");
  reader->finish();
  return pipeline;
}

ShardConfig read_sharding(MapReader& strategy) {
  ShardConfig shard;
  constexpr std::int64_t kMostZero = 3;
  constexpr std::int64_t kMostPrefetch = 1000;
  constexpr std::array<std::string_view, 2> kGroups = {"all", "node"};
  shard.stage = static_cast<int>(strategy.whole_or("zero", 0, 0, kMostZero));
  shard.within_node = strategy.choice_or("shard_group", kGroups, 0) == 1;
  shard.prefetch = static_cast<int>(strategy.whole_or("prefetch", 1, 0, kMostPrefetch));
  if (shard.within_node && shard.stage == 0) {
    strategy.reading().note(strategy.place("shard_group"),
                            "nothing is shared out, because 'zero' is 0; write 'zero: 3' or leave 'shard_group' out");
  }
  return shard;
}

RankOrder read_order(MapReader& strategy) {
  const YamlValue* value = strategy.find("order");
  if (value == nullptr) return kUsualRankOrder;
  std::vector<RankAxis> axes;
  for (const YamlValue& item : value->items) {
    const auto axis = read_choice(item, "axis", kRankAxisNames, strategy.reading());
    if (axis) axes.push_back(static_cast<RankAxis>(*axis));
  }
  RankOrder order = kUsualRankOrder;
  std::vector<RankAxis> sorted = axes;
  std::ranges::sort(sorted);
  const bool all =
      std::ranges::equal(sorted, std::array{RankAxis::tensor, RankAxis::context, RankAxis::data, RankAxis::pipeline});
  if (all) {
    std::ranges::copy(axes, order.begin());
  } else {
    strategy.reading().note(value->place(),
                            "'order' must name each axis once, neighbours first: [tensor, context, data, pipeline]");
  }
  return order;
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
  split.whole = reader.boolean_or("whole", false);
  split.update_each = reader.boolean_or("update_each", false);
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
  exchange.codec_from = reader.quantity_or<Bytes>("codec_from", Bytes(), Zero::allowed);
  constexpr std::int64_t kMostRank = 1024;
  exchange.rank = static_cast<int>(reader.whole_or("rank", exchange.rank, 1, kMostRank));
  if (reader.find("rank") != nullptr && exchange.codec != CodecKind::low_rank)
    strategy.reading().note(reader.place("rank"), "only the codec low_rank has a rank; leave it out");
  exchange.delayed = reader.boolean_or("delayed", false);
  if (reader.find("schedule") != nullptr)
    exchange.schedule = static_cast<ExchangeSchedule>(reader.choice_or("schedule", kExchangeScheduleNames, 0));
  exchange.partition = reader.optional_quantity<Bytes>("partition");
  exchange.credit = reader.optional_quantity<Bytes>("credit");
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
  parallel.batch_split = static_cast<BatchSplit>(reader.choice_or("batch_split", kBatchSplitNames, 0));
  parallel.model = read_model_split(reader);
  parallel.independent = reader.boolean_or("independent", false);
  parallel.exchange = read_exchange_config(reader);
  parallel.tensor = read_tensor(reader);
  parallel.context = read_context(reader);
  parallel.expert = read_expert(reader);
  parallel.pipeline = read_pipeline(reader);
  parallel.shard = read_sharding(reader);
  parallel.recompute = static_cast<Recompute>(reader.choice_or("recompute", kRecomputeNames, 0));
  parallel.offload_optimizer = reader.boolean_or("offload_optimizer", false);
  parallel.asynchronous = reader.boolean_or("asynchronous", false);
  parallel.average_every = reader.whole_or("average_every", 1, 1, kMostDegree);
  parallel.order = read_order(reader);
  parallel.fold = reader.boolean_or("fold", true);
  reader.finish();
  return parallel;
}

}  // namespace gpuscale
