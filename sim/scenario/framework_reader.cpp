#include "scenario/framework_reader.hpp"

#include <optional>

#include "scenario/data_file.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/transport_reader.hpp"
#include "scenario/written_out_reader.hpp"

namespace gpuscale {

namespace {

void read_host(MapReader& framework, HostCost& host) {
  const YamlValue* value = framework.require("host", "{forward_operator: 9 us, ...}");
  if (value == nullptr) return;
  MapReader reader(*value, "framework host", framework.path("host"), framework.reading());
  host.forward_operator = reader.quantity<Seconds>("forward_operator", Zero::allowed);
  host.backward_operator = reader.quantity<Seconds>("backward_operator", Zero::allowed);
  host.forward_block = reader.quantity_or("forward_block", host.forward_block, Zero::allowed);
  host.backward_block = reader.quantity_or("backward_block", host.backward_block, Zero::allowed);
  host.microbatch = reader.quantity_or("microbatch", host.microbatch, Zero::allowed);
  host.step = reader.quantity<Seconds>("step", Zero::allowed);
  host.optimizer_tensor = reader.quantity<Seconds>("optimizer_tensor", Zero::allowed);
  host.replica = reader.quantity_or("replica", host.replica, Zero::allowed);
  host.replica_tensor = reader.quantity_or("replica_tensor", host.replica_tensor, Zero::allowed);
  host.shared = reader.boolean_or("shared", false);
  reader.finish();
}

void read_bucket(MapReader& exchange, ExchangeHabit& habit) {
  const YamlValue* value = exchange.require("bucket", "25 MiB, each_tensor or whole_model");
  if (value == nullptr) return;
  if (value->is_scalar() && value->text == "whole_model") {
    habit.whole_model = true;
  } else if (!(value->is_scalar() && value->text == "each_tensor")) {
    habit.bucket = Bytes(read_quantity(*value, QuantityKind::size, Zero::refused, exchange.reading()).value_or(0.0));
  }
}

std::optional<BoxServers> read_servers(MapReader& exchange) {
  const YamlValue* value = exchange.find("servers");
  if (value == nullptr) return std::nullopt;
  constexpr double kMostNumbers = 1e12;
  constexpr int kMostServers = 64;
  BoxServers servers;
  MapReader reader(*value, "framework exchange servers", exchange.path("servers"), exchange.reading());
  servers.split_from = reader.number_or("split_from", servers.split_from, 1.0, kMostNumbers);
  servers.per_box = static_cast<int>(reader.whole_or("per_box", servers.per_box, 1, kMostServers));
  servers.in_turn = reader.boolean_or("in_turn", servers.in_turn);
  servers.each_gpu = reader.boolean_or("each_gpu", servers.each_gpu);
  servers.message_rate = reader.optional_quantity<BytesPerSecond>("message_rate");
  reader.finish();
  return servers;
}

void read_exchange(MapReader& framework, ExchangeHabit& habit) {
  const YamlValue* value = framework.require("exchange", "{algorithm: ring, bucket: 25 MiB, ...}");
  if (value == nullptr) return;
  MapReader reader(*value, "framework exchange", framework.path("exchange"), framework.reading());
  habit.algorithm = static_cast<ExchangeAlgorithm>(reader.choice("algorithm", kExchangeAlgorithmNames));
  read_bucket(reader, habit);
  habit.first_bucket = reader.quantity_or<Bytes>("first_bucket", Bytes(0));
  reader.require("overlap", "true");
  habit.overlap = reader.boolean_or("overlap", true);
  habit.compact = reader.boolean_or("compact", false);
  habit.call = reader.quantity<Seconds>("call", Zero::allowed);
  habit.schedule = static_cast<ExchangeSchedule>(reader.choice_or("schedule", kExchangeScheduleNames, 0));
  habit.partition = reader.quantity_or("partition", habit.partition);
  habit.credit = reader.quantity_or("credit", habit.credit);
  habit.owner = static_cast<TensorOwner>(reader.choice_or("owner", kTensorOwnerNames, 0));
  habit.servers = read_servers(reader);
  reader.finish();
}

void read_fused(MapReader& framework, Framework& result) {
  const YamlValue* value = framework.find("fused");
  if (value == nullptr) return;
  MapReader reader(*value, "framework fused", framework.path("fused"), framework.reading());
  result.fused_elementwise = reader.boolean_or("elementwise", false);
  result.fused_attention = reader.boolean_or("attention", false);
  result.fused_optimizer = reader.boolean_or("optimizer", false);
  reader.finish();
}

void read_convolution(MapReader& framework, ConvolutionHabit& habit) {
  const YamlValue* value = framework.find("convolution");
  if (value == nullptr) return;
  MapReader reader(*value, "framework convolution", framework.path("convolution"), framework.reading());
  habit.channels_first = reader.boolean_or("channels_first", false);
  habit.channels_last = reader.boolean_or("channels_last", false);
  habit.workspace = reader.quantity_or<Bytes>("workspace", habit.workspace);
  reader.finish();
}

}  // namespace

Framework read_framework(const YamlValue& value, const std::string& path, Reading& reading) {
  Framework framework;
  const std::optional<DataSource> data = find_data(value, kFrameworkFiles, reading);
  if (!data) return framework;
  MapReader reader(*data->map, "framework", path, reading);
  DataHead head = read_head(reader, *data);
  framework.id = data->id;
  framework.name = std::move(head.name);
  framework.source = std::move(head.source);
  read_host(reader, framework.host);
  read_exchange(reader, framework.exchange);
  if (const YamlValue* transport = reader.require("transport", "nccl-2.27, or {message: 8 us, interference: 0.1}")) {
    framework.transport = read_transport(*transport, reader.path("transport"), reading);
  }
  constexpr double kLeastEfficiency = 0.01;
  constexpr double kMostEfficiency = 1.5;
  framework.kernel_efficiency = reader.number_or("kernel_efficiency", 1.0, kLeastEfficiency, kMostEfficiency);
  framework.attention_efficiency = reader.number_or("attention_efficiency", 1.0, kLeastEfficiency, kMostEfficiency);
  read_fused(reader, framework);
  if (const YamlValue* operators = reader.find("written_out")) read_written_out(*operators, framework, reading);
  read_convolution(reader, framework.convolution);
  framework.optimizer_on_server = reader.boolean_or("optimizer_on_server", false);
  framework.blocking_sends = reader.boolean_or("blocking_sends", true);
  if (reader.find("feed") != nullptr) framework.feed = reader.quantity<BytesPerSecond>("feed");
  framework.sub_batches_in_turn = reader.boolean_or("sub_batches_in_turn", false);
  framework.gradients_fp32 = reader.boolean_or("gradients_fp32", false);
  framework.dtensor = reader.boolean_or("dtensor", false);
  framework.contiguous_gradients = reader.boolean_or("contiguous_gradients", false);
  framework.wide_loss = reader.boolean_or("wide_loss", false);
  framework.sparse_embedding = reader.boolean_or("sparse_embedding", false);
  framework.base_memory = reader.quantity<Bytes>("base_memory", Zero::allowed);
  reader.finish();
  return framework;
}

std::string_view in_words(const Framework& framework) {
  return framework.id == "inline" ? "this framework" : std::string_view(framework.id);
}

}  // namespace gpuscale
