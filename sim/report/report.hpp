#pragma once

/// \file
/// What a simulation tells: plain values with units in their types, ready for any writer.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/footprint.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// The step's time on its critical path; sums to the step time.
struct StepSplit {
  Seconds compute = {};
  Seconds host = {};
  Seconds exchange_exposed = {};
  Seconds bubble = {};
  Seconds input = {};
  Seconds jitter = {};
};

/// How busy a shared rate was during the step.
struct LinkLoad {
  std::string name;
  Bytes carried = {};
  double load = 0.0;  ///< carried / (rate x step time), 0..1
};

/// Exchanges for one purpose.
struct ExchangeReport {
  std::string purpose;   ///< "gradient", "tensor", "pipeline"...
  Seconds exposed = {};  ///< of the step, on its critical path
  Bytes sent = {};       ///< by a GPU of the stage that sends most of it
  Bytes uncompressed = {};
};

/// What one layer asks of one GPU in one pass.
struct LayerReport {
  std::string name;
  std::string kind;
  std::string out;        ///< shape of one sample's output: 64x56x56
  double parameters = 0;  ///< numbers this GPU holds
  Bytes activation = {};  ///< of the output, the batch of a pass
  Bytes error = {};       ///< of the output; as large, once backward reaches it
  Bytes saved = {};       ///< kept from forward to backward
  Seconds forward = {};
  Seconds backward = {};
};

/// The GPUs of one kind, in a job whose GPUs are unlike.
struct CardReport {
  std::string gpu;
  int gpus = 0;
  double least_batch = 0;  ///< samples of a step a GPU; less than `most_batch` where they do not divide
  double most_batch = 0;
  Seconds compute = {};  ///< of a step, of the one that has most
  Bytes memory = {};     ///< of the fullest
  Bytes capacity = {};
  bool fits = true;
};

/// What compression brings: the same job without any codec.
struct CodecGain {
  std::string codecs;               ///< in words: "int8", "fp16 of activations"
  Seconds exchanging_without = {};  ///< see Report::exchanging
  Seconds step_time_without = {};
};

/// One simulated point: a scenario with its settings.
struct Report {
  std::string scenario;
  std::vector<std::pair<std::string, std::string>> settings;  ///< swept or set keys and their values
  std::string model;
  std::string gpu;           ///< "1x GeForce RTX 3090 + 1x GeForce GTX 1080" where they are unlike
  bool unlike_gpus = false;  ///< of several kinds: `gpu` says how many of each
  std::string machine;
  std::string framework;
  std::string strategy;  ///< in words: "data parallel x4, ring, 25 MiB buckets, overlapped"
  int gpus = 1;
  int nodes = 1;
  double global_batch = 0;
  double batch_per_gpu = 0;
  bool weak_scaling = true;

  Seconds step_time = {};
  Seconds passes_time = {};    ///< until everything but the update of the weights is done
  Seconds step_time_low = {};  ///< from the validation error of the same kind of case
  Seconds step_time_high = {};
  double throughput = 0;                    ///< samples/s of the whole job; transfers/s of a transfer
  std::optional<double> throughput_tokens;  ///< tokens/s where samples are sequences
  std::optional<double> speedup;     ///< against one GPU, the fastest of the job's; absent if that one has no meaning
  std::optional<double> efficiency;  ///< throughput over that of all GPUs alone: speedup / gpus where they are alike
  std::string baseline;              ///< what the speed-up is against, in words
  StepSplit split;
  std::optional<double> model_flop_utilisation;  ///< model FLOP of the step / (time x peak of all GPUs), 0..1

  Bytes exchanged_per_gpu = {};              ///< gradient (and activation) bytes a rank sends in a step
  Bytes exchange_uncompressed_per_gpu = {};  ///< the same without codec
  std::vector<ExchangeReport> exchanges;     ///< by purpose, the most exposed first
  Seconds exchanging = {};                   ///< of the step, in which anything is exchanged, exposed or not
  std::optional<CodecGain> codec_gain;       ///< absent where no codec is used, or the report is not compared
  std::vector<LinkLoad> links;               ///< busiest first
  MemoryReport memory;
  std::vector<CardReport> cards;    ///< by kind of GPU; empty where all are of one
  std::vector<LayerReport> layers;  ///< in forward order; empty for a transfer
  std::string limited_by;           ///< one sentence
  std::vector<std::string> not_modelled;
  std::vector<std::string> provenance;

  std::string problem;  ///< why this point cannot run; then only what was asked for has a meaning, no figure
};

/// Whether the point could not run.
inline bool is_refused(const Report& report) { return !report.problem.empty(); }

}  // namespace gpuscale
