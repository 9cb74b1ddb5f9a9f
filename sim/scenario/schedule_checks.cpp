#include "scenario/schedule_checks.hpp"

#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace gpuscale {

namespace {

/// Frameworks send pieces of 1 MB and more; small ones would only be many.
constexpr Bytes kLeastPartition{64e3};

struct Conflict {
  bool there;
  std::string_view key;
  std::string_view what;
};

void refuse_size(const std::optional<Bytes>& size, std::string_view key, Reading& reading) {
  if (!size) return;
  reading.note(
      reading.place_of(fmt::format("strategy.exchange.{}", key)),
      fmt::format("only gradients that are sent by priority have a {}; write 'schedule: priority' or leave it out",
                  key));
}

}  // namespace

void check_exchange_schedule(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  const ParallelConfig& parallel = scenario.job.parallel;
  const ExchangeConfig& exchange = parallel.exchange;
  if (!exchange.schedule && !sound.framework) return;
  const ExchangeHabit& habit = scenario.job.framework.exchange;
  if (exchange.schedule.value_or(habit.schedule) == ExchangeSchedule::fifo) {
    refuse_size(exchange.partition, "partition", reading);
    refuse_size(exchange.credit, "credit", reading);
    return;
  }
  if (exchange.partition.value_or(habit.partition) < kLeastPartition) {
    const std::string_view key = exchange.partition ? "strategy.exchange.partition" : "framework.exchange.partition";
    reading.note(reading.place_of(key), "pieces of less than 64 kB are nothing but latency; write 64 kB or more");
  }
  const bool on_first = exchange.algorithm == ExchangeAlgorithm::gather;
  const Conflict conflicts[] = {
      {parallel.shard.stage > 0, "strategy.zero", "sums of shares"},
      {parallel.pipeline.stages > 1, "strategy.pipeline.stages", "stages that wait for each other"},
      {parallel.model.degree > 1, "strategy.model", "split layers"},
      {parallel.average_every > 1, "strategy.average_every", "averages of parameters"},
      {parallel.offload_optimizer, "strategy.offload_optimizer", "one update of all on the host"},
      {parallel.asynchronous, "strategy.asynchronous", "workers that do not wait for each other"},
      {exchange.delayed, "strategy.exchange.delayed", "gradients a step late"},
      {exchange.overlap == false, "strategy.exchange.overlap", "one exchange after backward"},
      {exchange.bucket.has_value(), "strategy.exchange.bucket", "tensors that are put together"},
      {on_first, "strategy.exchange.algorithm", "sums on GPU 0"},
      {exchange.codec == CodecKind::low_rank, "strategy.exchange.codec", "factors of whole matrices"}};
  for (const Conflict& conflict : conflicts) {
    if (!conflict.there) continue;
    reading.note(
        reading.place_of(conflict.key),
        fmt::format("gradients that are sent by priority, tensor by tensor, do not go with {}; leave it out, or "
                    "write 'exchange: {{schedule: fifo}}'",
                    conflict.what));
  }
}

}  // namespace gpuscale
