#include "scenario/cross_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "topology/box_pieces.hpp"
#include "topology/fabric.hpp"
#include "units/quantity_text.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

std::int64_t slots(const MachineSpec& machine) {
  return std::ranges::count(machine.devices, DeviceKind::gpu, &DeviceSpec::kind);
}

/// Devices and links of a cluster that can be held in memory: some 40,000 boxes of eight cards.
constexpr std::int64_t kMostParts = 4'000'000;

std::int64_t parts_of_box(const MachineSpec& machine) {
  return static_cast<std::int64_t>(machine.devices.size() + machine.connections.size());
}

void check_cluster(const ClusterSpec& cluster, Reading& reading) {
  const std::int64_t slots_here = slots(cluster.machine);
  const std::int64_t slots_all = slots_here * cluster.nodes;
  if (cluster.gpus > slots_all) {
    reading.note(
        reading.place_of("cluster.gpus"),
        fmt::format("{} GPUs do not fit: the machine {} has {} GPU slots and there {} {}; ask for at most {} or add "
                    "nodes",
                    cluster.gpus, in_quotes(cluster.machine.id), slots_here, cluster.nodes == 1 ? "is" : "are",
                    cluster.nodes == 1 ? "1 node" : fmt::format("{} nodes", cluster.nodes), slots_all));
  }
  reading.note(reach_problems(cluster));
  if (cluster.nodes == 1) return;
  if (!cluster.fabric && !reading.has("cluster.fabric")) {
    reading.note(
        reading.place_of("cluster.nodes"),
        fmt::format("{} nodes need a fabric to join them; add a line such as 'fabric: fdr-infiniband' to the cluster",
                    cluster.nodes));
  }
  if (std::ranges::find(cluster.machine.devices, DeviceKind::nic, &DeviceSpec::kind) == cluster.machine.devices.end()) {
    reading.note(
        reading.place_of("cluster.nodes"),
        fmt::format("{} nodes cannot be joined: the machine {} has no device of kind nic; choose one that has, or "
                    "add 'nic0: {{kind: nic}}' and its link",
                    cluster.nodes, in_quotes(cluster.machine.id)));
  }
  if (const std::int64_t parts = parts_of_box(cluster.machine) * cluster.nodes; parts > kMostParts) {
    reading.note(reading.place_of("cluster.nodes"),
                 fmt::format("{} nodes of the machine {} have {} devices and links, more than {}; ask for fewer nodes",
                             cluster.nodes, in_quotes(cluster.machine.id), parts, kMostParts));
  } else {
    reading.note(fabric_problems(cluster));
  }
}

/// NVLink bridges and cubes belong to a card as much as to a machine.
void check_nvlink(const ClusterSpec& cluster, Reading& reading) {
  std::map<std::string, int, std::less<>> used;
  std::set<std::string_view> gpus;
  for (const DeviceSpec& device : cluster.machine.devices) {
    if (device.kind == DeviceKind::gpu) gpus.insert(device.name);
  }
  for (const ConnectionSpec& connection : cluster.machine.connections) {
    if (connection.type.kind != "nvlink") continue;
    for (const std::string* end : {&connection.from, &connection.to}) {
      if (!gpus.contains(*end)) continue;
      const auto refuse = [&](std::string text) { reading.note(reading.place_of("cluster.gpu"), std::move(text)); };
      if (!cluster.gpu.nvlink) {
        return refuse(
            fmt::format("the machine {} joins its GPUs by {}, and the card {} has no NVLink; choose another of "
                        "the two",
                        in_quotes(cluster.machine.id), connection.type.id, in_quotes(cluster.gpu.id)));
      }
      if (cluster.gpu.nvlink->type != connection.type.id) {
        return refuse(fmt::format(
            "the machine {} joins its GPUs by {}, and the card {} has {}; choose another of the two",
            in_quotes(cluster.machine.id), connection.type.id, in_quotes(cluster.gpu.id), cluster.gpu.nvlink->type));
      }
      if ((used[*end] += connection.lanes) > cluster.gpu.nvlink->lanes) {
        return refuse(fmt::format("the machine {} takes more NVLinks of {} than the {} that the card {} has",
                                  in_quotes(cluster.machine.id), in_quotes(*end), cluster.gpu.nvlink->lanes,
                                  in_quotes(cluster.gpu.id)));
      }
    }
  }
}

void check_precision(const Scenario& scenario, Reading& reading) {
  const Gpu& gpu = scenario.cluster.gpu;
  const Precision wanted = scenario.job.precision;
  if (rate_at(gpu.peak, wanted) || rate_at(gpu.matrix, wanted)) return;
  std::vector<std::string_view> has;
  for (std::size_t i = 0; i < kPrecisionNames.size(); ++i) {
    if (gpu.peak[i] || gpu.matrix[i]) has.push_back(kPrecisionNames[i]);
  }
  reading.note(reading.place_of("workload.precision"),
               fmt::format("the card {} does not compute in {}; it has {}", in_quotes(gpu.id), name(wanted),
                           fmt::join(has, ", ")));
}

/// "64 or 96", the multiples of `step` beside `value`.
std::string multiples_beside(std::int64_t value, std::int64_t step) {
  const std::int64_t below = value / step * step;
  return below == 0 ? std::to_string(step) : fmt::format("{} or {}", below, below + step);
}

void check_batch(const Scenario& scenario, std::int64_t replicas, Reading& reading) {
  const BatchSpec& batch = scenario.job.batch;
  const ModelSplitConfig& model = scenario.job.parallel.model;
  if (!batch.per_gpu && batch.samples % replicas != 0) {
    reading.note(reading.place_of("workload.batch"),
                 fmt::format("a global batch of {} does not divide over {} replicas; {} does", batch.samples, replicas,
                             multiples_beside(batch.samples, replicas)));
    return;
  }
  const std::int64_t group = batch.per_gpu ? batch.samples * model.degree : batch.samples / replicas;
  if (model.sub_batch > 0 && (model.sub_batch > group || group % model.sub_batch != 0)) {
    reading.note(reading.place_of("strategy.model.sub_batch"),
                 fmt::format("a sub_batch of {} does not divide the {} samples of a replica; write a divisor of {}",
                             model.sub_batch, group, group));
  }
}

/// Checks that degrees multiply to the GPU count; the number of replicas, or 0 if they do not.
std::int64_t check_degrees(const Scenario& scenario, Reading& reading) {
  const std::int64_t gpus = scenario.cluster.gpus;
  const ParallelConfig& parallel = scenario.job.parallel;
  const std::int64_t model = parallel.model.degree;
  if (gpus % model != 0) {
    reading.note(reading.place_of("strategy.model.degree"),
                 fmt::format("a model degree of {} does not divide the {} GPUs of the cluster", model, gpus));
    return 0;
  }
  if (parallel.data == 0) return gpus / model;
  if (parallel.data * model != gpus) {
    const std::string product = model == 1 ? std::to_string(parallel.data)
                                           : fmt::format("{} x {} = {}", parallel.data, model, parallel.data * model);
    reading.note(reading.place_of("strategy.data"),
                 fmt::format("degrees multiply to {}, and the cluster uses {} GPUs; write 'data: auto' or 'data: {}'",
                             product, gpus, gpus / model));
    return 0;
  }
  return parallel.data;
}

void check_independent(const Scenario& scenario, Reading& reading) {
  const ParallelConfig& parallel = scenario.job.parallel;
  if (parallel.model.degree > 1) {
    reading.note(reading.place_of("strategy.model"), "independent jobs share no layers; leave 'model' at 1");
  }
  if (parallel.data > 1) {
    reading.note(reading.place_of("strategy.data"), "independent jobs are no replicas; leave 'data' out");
  }
  if (!scenario.job.batch.per_gpu) {
    reading.note(reading.place_of("workload.batch"),
                 fmt::format("independent jobs share no batch; write '{} per gpu'", scenario.job.batch.samples));
  }
  if (parallel.exchange.codec != CodecKind::none) {
    reading.note(reading.place_of("strategy.exchange.codec"), "independent jobs exchange nothing; leave the codec out");
  }
}

void check_codecs(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  const ParallelConfig& parallel = scenario.job.parallel;
  if (parallel.model.codec == CodecKind::top_k) {
    reading.note(reading.place_of("strategy.model.codec"),
                 "top_k drops numbers, and activations need all of them; write none, fp16, int8 or one_bit");
  }
  ExchangeAlgorithm algorithm = parallel.exchange.algorithm;
  if (algorithm == ExchangeAlgorithm::automatic && sound.framework)
    algorithm = scenario.job.framework.exchange.algorithm;
  const CodecKind codec_kind = parallel.exchange.codec;
  if (algorithm == ExchangeAlgorithm::gather && codec_kind != CodecKind::none && codec_kind != CodecKind::fp16) {
    reading.note(reading.place_of("strategy.exchange.codec"),
                 fmt::format("the gather exchange sums plain numbers on one GPU and cannot decode {}; use ring, "
                             "parameter_server_cpu or parameter_server_gpu, or the codec none or fp16",
                             codec(codec_kind).name));
  }
}

void check_transfer(const Scenario& scenario, Reading& reading) {
  if (scenario.cluster.gpus < 2) {
    reading.note(reading.place_of("cluster.gpus"), "a transfer goes from the first GPU to the second; ask for 2 GPUs");
  }
  if (scenario.job.parallel.model.degree > 1 || scenario.job.parallel.data > 1 || scenario.job.parallel.independent) {
    reading.note(reading.place_of("strategy"), "a transfer is not split; leave everything but 'exchange.codec' out");
  }
}

void check_layers(const Job& job, Reading& reading) {
  LowerOptions options;
  options.precision = job.precision;
  const bool has_length = job.model.input.kind == ShapeKind::tokens || job.model.input.kind == ShapeKind::sequence;
  if (has_length) options.sequence = job.sequence;
  if (job.sequence && !has_length) {
    reading.note(reading.place_of("workload.sequence"),
                 fmt::format("the model {} takes {}, which has no length; leave 'sequence' out",
                             in_quotes(job.model.id), describe(job.model.input)));
  }
  std::vector<Problem> problems;
  lower(job.model, options, problems);
  const bool layers_join = problems.empty();
  reading.note(std::move(problems));
  if (!layers_join || job.parallel.model.degree == 1) return;

  options.model_split = job.parallel.model.degree;
  std::vector<Problem> split_problems;
  lower(job.model, options, split_problems);
  if (split_problems.empty()) return;
  const Problem& first = split_problems.front();
  const std::string others =
      split_problems.size() == 1 ? "" : fmt::format(", and so in {} more layers", split_problems.size() - 1);
  reading.note(reading.place_of("strategy.model.degree"),
               fmt::format("{} ({}:{}{})", first.text, first.place.file, first.place.line, others));
}

}  // namespace

void check_across(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  if (sound.cluster) check_cluster(scenario.cluster, reading);
  if (sound.cluster) check_nvlink(scenario.cluster, reading);
  if (sound.cluster && sound.workload) check_precision(scenario, reading);
  if (sound.strategy) check_codecs(scenario, sound, reading);
  if (scenario.job.transfer) {
    if (sound.cluster && sound.strategy && sound.workload) check_transfer(scenario, reading);
    return;
  }
  if (sound.strategy && sound.workload && scenario.job.parallel.independent) {
    check_independent(scenario, reading);
  } else if (sound.cluster && sound.strategy) {
    const std::int64_t replicas = check_degrees(scenario, reading);
    if (replicas > 0 && sound.workload) check_batch(scenario, replicas, reading);
  }
  if (sound.workload && sound.strategy) check_layers(scenario.job, reading);
}

}  // namespace gpuscale
