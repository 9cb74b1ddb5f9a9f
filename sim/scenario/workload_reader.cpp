#include "scenario/workload_reader.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

#include "scenario/data_file.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/model_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::int64_t kLongestSequence = 100'000'000;
constexpr std::int64_t kMostNumbers = 1'000'000'000'000;
constexpr DataKind kCalibrationFiles{"calibration", "workloads/calibrations", ""};

/// Words of a text, at most four.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (words.size() < 4) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) break;
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

void read_transfer(MapReader& workload, Job& job) {
  const YamlValue* value = workload.find("transfer");
  if (value == nullptr) return;
  MapReader reader(*value, "workload transfer", workload.path("transfer"), workload.reading());
  job.transfer = TransferWorkload{reader.whole("numbers", 1, kMostNumbers)};
  reader.finish();
}

/// One measured throughput, or factors: written here or in a file of one's own.
void read_calibration(MapReader& workload, Job& job) {
  const YamlValue* value = workload.find("calibrate");
  if (value == nullptr) return;
  const std::optional<DataSource> data = find_data(*value, kCalibrationFiles, workload.reading());
  if (!data) return;
  MapReader reader(*data->map, "workload calibrate", workload.path("calibrate"), workload.reading());
  static_cast<void>(read_head(reader, *data));
  const auto factor = [&](std::string_view key) {
    return reader.number_or(key, 1.0, kLeastCalibration, kMostCalibration);
  };
  job.calibrated_throughput = reader.optional("throughput_1gpu", QuantityKind::per_second);
  job.calibration = {.products = factor("products"),
                     .streams = factor("streams"),
                     .host = factor("host"),
                     .exchange = factor("exchange")};
  reader.finish();
  const bool has_throughput = data->map->find("throughput_1gpu") != nullptr;
  const bool has_factors = std::ranges::any_of(std::array{"products", "streams", "host", "exchange"},
                                               [&](const char* key) { return data->map->find(key) != nullptr; });
  if (has_throughput && has_factors) {
    workload.reading().note(reader.place("throughput_1gpu"),
                            "'throughput_1gpu' scales computing itself; write it or factors, not both");
  } else if (!has_throughput && !has_factors && data->map->is_map()) {
    workload.reading().note(reader.place(),
                            "workload calibrate is empty; write 'throughput_1gpu: 207 /s', or factors on times such as "
                            "'products: 1.1' ('gpuscale calibrate' finds them)");
  }
}

}  // namespace

BatchSpec read_batch(const YamlValue& value, Reading& reading) {
  BatchSpec batch;
  const auto refuse = [&](std::string text) {
    reading.note(value.place(), std::move(text));
    return batch;
  };
  if (!value.is_scalar()) {
    return refuse(
        fmt::format("'batch' must be a text such as '64 per gpu' or '256 global', not {}", words(value.kind)));
  }
  const std::vector<std::string> parts = split_words(value.text);
  const bool per_gpu = parts.size() == 3 && parts[1] == "per" && (parts[2] == "gpu" || parts[2] == "GPU");
  const bool global = parts.size() == 2 && parts[1] == "global";
  if (parts.size() == 1 && parts[0].find_first_not_of("0123456789") == std::string::npos) {
    return refuse(
        fmt::format("'{}' does not say of what; write '{} per gpu' (weak scaling) or '{} global' (strong scaling)",
                    parts[0], parts[0], parts[0]));
  }
  if (!per_gpu && !global) {
    return refuse(
        fmt::format("{} is not a batch; write a whole number and what it counts, such as '64 per gpu' or "
                    "'256 global'",
                    in_quotes(value.text)));
  }
  YamlValue number = value;
  number.text = parts[0];
  batch.per_gpu = per_gpu;
  batch.samples = read_whole(number, 1, kMostSamples, reading).value_or(1);
  return batch;
}

void read_workload(const YamlValue& value, Job& job, Reading& reading) {
  MapReader reader(value, "workload", "workload", reading);
  const YamlValue* model = reader.find("model");
  read_transfer(reader, job);
  const bool has_model = value.find("model") != nullptr;
  const bool has_transfer = value.find("transfer") != nullptr;
  if (value.is_map() && !has_model && !has_transfer) {
    reading.note(value.place(), "workload has no 'model'; add a line such as 'model: resnet50'");
  }
  if (has_model && has_transfer) {
    reading.note(reader.place("transfer"),
                 "a workload is either a 'model' to train or a 'transfer' of numbers, not both");
  }
  if (model != nullptr) job.model = read_model(*model, "workload.model", reading);
  const YamlValue* batch = has_model ? reader.require("batch", "64 per gpu") : reader.find("batch");
  if (batch != nullptr) job.batch = read_batch(*batch, reading);
  job.precision =
      static_cast<Precision>(reader.choice_or("precision", kPrecisionNames, static_cast<std::size_t>(Precision::fp32)));
  constexpr std::array<std::string_view, 2> kPasses = {"all", "forward"};
  job.forward_only = reader.choice_or("passes", kPasses, 0) == 1;
  if (reader.find("sequence") != nullptr) job.sequence = reader.whole("sequence", 1, kLongestSequence);
  job.optimizer = static_cast<Optimizer>(
      reader.choice_or("optimizer", kOptimizerNames, static_cast<std::size_t>(Optimizer::sgd_momentum)));
  read_calibration(reader, job);
  reader.finish();
  if (!has_transfer || has_model) return;
  for (const std::string_view key : {"batch", "passes", "sequence", "optimizer", "calibrate"}) {
    if (value.find(key) != nullptr) {
      reading.note(value.find(key)->place(), fmt::format("a transfer has no '{}'; leave the key out", key));
    }
  }
}

InputConfig read_input_config(const YamlValue& value, Reading& reading) {
  MapReader reader(value, "input", "input", reading);
  InputConfig input;
  input.bytes_per_sample = reader.quantity<Bytes>("bytes_per_sample");
  input.decode_per_core = reader.optional("decode_per_core", QuantityKind::per_second);
  constexpr std::int64_t kMostCores = 1'000'000;
  input.cores = static_cast<int>(reader.whole_or("cores", 0, 1, kMostCores));
  input.storage = reader.optional_quantity<BytesPerSecond>("storage");
  input.shared_storage = reader.optional_quantity<BytesPerSecond>("shared_storage");
  input.copied_per_sample = reader.optional_quantity<Bytes>("copied_per_sample", Zero::allowed);
  input.ram_per_sample = reader.quantity_or<Bytes>("ram_per_sample", Bytes(0), Zero::allowed);
  reader.finish();
  const bool has_cores = value.find("cores") != nullptr;
  const bool has_decode = value.find("decode_per_core") != nullptr;
  if (has_cores != has_decode) {
    reading.note(value.place(), has_cores
                                    ? "'cores' needs 'decode_per_core', the samples a second that one core prepares"
                                    : "'decode_per_core' needs 'cores', how many prepare samples on a node");
  }
  const bool has_storage = value.find("storage") != nullptr || value.find("shared_storage") != nullptr;
  if (value.is_map() && !has_cores && !has_decode && !has_storage) {
    reading.note(value.place(), "input has no rate; add 'storage', or 'decode_per_core' with 'cores'");
  }
  return input;
}

}  // namespace gpuscale
