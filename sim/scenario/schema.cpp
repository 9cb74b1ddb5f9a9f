#include "scenario/schema.hpp"

#include <algorithm>
#include <array>

namespace gpuscale {

namespace {

constexpr std::string_view kRequired = "required";
constexpr std::string_view kNone = "none";

// clang-format off
constexpr auto kSchema = std::to_array<SchemaKey>({
    {"name", "text", "the file's name", "what the report calls the scenario"},
    {"description", "text", kNone, "free text, not read by the program"},
    {"source", "text", kNone, "where the figures of the scenario come from"},
    {"citation", "text", kNone, "the publication a scenario reproduces"},

    {"workload", "map", kRequired, "what is trained, or copied"},
    {"workload.model", "name, path or map: resnet50", "required without transfer", "the model; workloads/README.md has the grammar"},
    {"workload.model.name", "text", "the file's name", "of an inline model"},
    {"workload.model.family", "conv, recurrent, transformer or dense", kRequired, "sort of model, for the range of the result"},
    {"workload.model.source", "text", kNone, "where the layers are described"},
    {"workload.model.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"workload.model.published", "map", kNone, "figures to compare with"},
    {"workload.model.published.parameters", "count, as 25.557 M", kNone, "numbers of all weights"},
    {"workload.model.published.forward", "work, as 8.18 GFLOP", kNone, "matrix products of one sample"},
    {"workload.model.published.source", "text", kRequired, "who published them"},
    {"workload.model.input", "map", kRequired, "the shape of one sample: exactly one of the forms below"},
    {"workload.model.input.image", "[channels, height, width]", kNone, "an image"},
    {"workload.model.input.features", "whole number", kNone, "a vector, or the width of a frame"},
    {"workload.model.input.tokens", "whole number", kNone, "a row of token numbers"},
    {"workload.model.input.frames", "whole number", kNone, "a row of vectors, with features"},
    {"workload.model.blocks", "map", kNone, "named pieces with parameters, for `use`"},
    {"workload.model.layers", "list", kRequired, "the layers in forward order"},
    {"workload.transfer", "map", "required without model", "one copy from the first GPU to the second, no training"},
    {"workload.transfer.numbers", "whole number", kRequired, "how many values are copied"},
    {"workload.batch", "'64 per gpu' or '256 global'", "required with a model", "samples a step: per gpu is weak scaling, global is strong scaling"},
    {"workload.precision", "fp64, fp32, tf32, fp16, bf16 or fp8", "fp32", "number format of the arithmetic"},
    {"workload.sequence", "whole number", "the model's", "sequence length in place of the model's"},
    {"workload.optimizer", "sgd, sgd_momentum, adam, adamw or lamb", "sgd_momentum", "decides the state kept per parameter"},
    {"workload.calibrate", "map", kNone, "scales computing to a measurement"},
    {"workload.calibrate.throughput_1gpu", "samples a second, as 207 /s", kRequired, "measured on one such GPU"},

    {"cluster", "map", kRequired, "the hardware"},
    {"cluster.name", "name, path or map", kNone, "a cluster file with machine, gpu, nodes, fabric; keys beside it come first"},
    {"cluster.machine", "name, path or map: workstation-4x-pcie3-x8", kRequired, "the box; topologies/README.md has the grammar"},
    {"cluster.machine.name", "text", "the file's name", "of an inline machine"},
    {"cluster.machine.source", "text", kNone, "where the figures come from"},
    {"cluster.machine.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"cluster.machine.devices", "map of names, ranges as gpu[0-3]", kRequired, "what is in the box"},
    {"cluster.machine.devices.NAME.kind", "gpu, cpu, memory, pcie_switch, nvswitch, nic or network_switch", kRequired, "what the device is"},
    {"cluster.machine.devices.NAME.peer_rate", "rate, as 10 GB/s", kNone, "cpu: all peer traffic its root complex passes"},
    {"cluster.machine.devices.NAME.staging_rate", "rate, as 20 GB/s", kNone, "memory: all copies between GPUs that pass through it"},
    {"cluster.machine.links", "list", kRequired, "how devices are connected"},
    {"cluster.machine.links[].between", "two devices or ranges, as [gpu0, cpu0]", kRequired, "the two ends"},
    {"cluster.machine.links[].type", "link type, as pcie-3 x16", kRequired, "a file of topologies/links and the lanes taken"},
    {"cluster.gpu", "name, path or map: gtx-1080-ti", kRequired, "the card in every GPU slot"},
    {"cluster.gpu.name", "text", "the file's name", "of an inline GPU"},
    {"cluster.gpu.source", "text", kNone, "where the figures come from"},
    {"cluster.gpu.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"cluster.gpu.family", "name, as pascal", kRequired, "what the architecture makes of its peak rates"},
    {"cluster.gpu.launched", "date, as 2017-03-10", kNone, "first day of sale"},
    {"cluster.gpu.price", "price, as 699 USD", kNone, "at launch"},
    {"cluster.gpu.peak", "map", kRequired, "dense rates of the vector units"},
    {"cluster.gpu.peak.fp64", "rate, as 354 GFLOP/s", kNone, "8-byte numbers"},
    {"cluster.gpu.peak.fp32", "rate, as 11.34 TFLOP/s", kRequired, "4-byte numbers"},
    {"cluster.gpu.peak.tf32", "rate", kNone, "fp32 numbers multiplied with 10 bits"},
    {"cluster.gpu.peak.fp16", "rate", kNone, "2-byte numbers"},
    {"cluster.gpu.peak.bf16", "rate", kNone, "2-byte numbers of fp32's range"},
    {"cluster.gpu.peak.fp8", "rate", kNone, "1-byte numbers"},
    {"cluster.gpu.peak.int8", "rate", kNone, "integers; kept for completeness, not used"},
    {"cluster.gpu.matrix", "map", kNone, "dense rates of the matrix units"},
    {"cluster.gpu.matrix.fp64", "rate", kNone, "8-byte numbers"},
    {"cluster.gpu.matrix.fp32", "rate", kNone, "4-byte numbers"},
    {"cluster.gpu.matrix.tf32", "rate", kNone, "fp32 numbers multiplied with 10 bits"},
    {"cluster.gpu.matrix.fp16", "rate, as 125 TFLOP/s", kNone, "2-byte numbers"},
    {"cluster.gpu.matrix.bf16", "rate", kNone, "2-byte numbers of fp32's range"},
    {"cluster.gpu.matrix.fp8", "rate", kNone, "1-byte numbers"},
    {"cluster.gpu.matrix.int8", "rate", kNone, "integers; kept for completeness, not used"},
    {"cluster.gpu.memory", "map", kRequired, "the card's memory"},
    {"cluster.gpu.memory.size", "size, as 11 GiB", kRequired, "all of it"},
    {"cluster.gpu.memory.fast_size", "size, as 3.5 GiB", kNone, "where the last part is slow"},
    {"cluster.gpu.memory.slow_bandwidth", "rate, as 28 GB/s", kNone, "of the part beyond fast_size"},
    {"cluster.gpu.memory.bandwidth", "rate, as 484 GB/s", kRequired, "peak"},
    {"cluster.gpu.memory.l2", "size, as 2816 KiB", kRequired, "last cache"},
    {"cluster.gpu.multiprocessors", "whole number", kRequired, "SMs or compute units"},
    {"cluster.gpu.clock", "map", kRequired, "clocks"},
    {"cluster.gpu.clock.base", "frequency, as 1480 MHz", kRequired, "guaranteed"},
    {"cluster.gpu.clock.boost", "frequency, as 1582 MHz", kRequired, "at which the peak rates hold"},
    {"cluster.gpu.host_bus", "link type, as pcie-3 x16", kRequired, "the fastest the card speaks"},
    {"cluster.gpu.nvlink", "map", kNone, "NVLink, where the card has it"},
    {"cluster.gpu.nvlink.type", "link type, as nvlink-2", kRequired, "generation"},
    {"cluster.gpu.nvlink.links", "whole number", kRequired, "how many the card has"},
    {"cluster.gpu.peer_to_peer", "true or false", "true", "copies between cards over PCIe without the host"},
    {"cluster.gpu.copy_engines", "whole number", "1", "copies that run at once"},
    {"cluster.gpu.power", "map", kRequired, "power"},
    {"cluster.gpu.power.limit", "power, as 250 W", kRequired, "board limit"},
    {"cluster.gpu.power.idle", "power, as 9 W", kRequired, "doing nothing"},
    {"cluster.gpus", "whole number", kRequired, "how many GPUs the job uses, over all nodes"},
    {"cluster.nodes", "whole number", "1", "boxes"},
    {"cluster.fabric", "name, path or map: fdr-infiniband", "required with nodes above 1", "what joins the boxes"},
    {"cluster.fabric.name", "text", "the file's name", "of an inline fabric"},
    {"cluster.fabric.source", "text", kNone, "where the figures come from"},
    {"cluster.fabric.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"cluster.fabric.link", "link type, as hdr-infiniband", kRequired, "from each network adapter to the switch"},
    {"cluster.fabric.switch_latency", "time, as 200 ns", kRequired, "one crossing of the switch"},
    {"cluster.placement", "packed or spread", "packed", "fill a box before the next, or deal ranks round the boxes"},

    {"strategy", "map", "data parallel", "how the job is split; degrees multiply to the GPU count"},
    {"strategy.data", "whole number or auto", "auto", "replicas; auto is whatever is left"},
    {"strategy.model", "whole number or map", "1", "GPUs that share linear and recurrent layers"},
    {"strategy.model.degree", "whole number", kRequired, "the same, in the long form"},
    {"strategy.model.sub_batch", "whole number", "the whole batch", "samples whose activations travel while the next compute"},
    {"strategy.model.codec", "none, fp16, int8 or one_bit", "none", "compression of activations"},
    {"strategy.independent", "true or false", "false", "every GPU trains a job of its own"},
    {"strategy.exchange", "map", "the framework's", "how gradients are summed"},
    {"strategy.exchange.algorithm", "auto, ring, direct, parameter_server_cpu, parameter_server_gpu or gather", "auto", "auto is the framework's"},
    {"strategy.exchange.bucket", "size, as 25 MiB", "the framework's", "gradients are sent in pieces of at least this size"},
    {"strategy.exchange.overlap", "true or false", "the framework's", "pieces leave while earlier layers still compute"},
    {"strategy.exchange.codec", "none, fp16, int8, one_bit (1-bit) or top_k (top-k)", "none", "compression of gradients"},
    {"strategy.tensor", "1", "1", "not yet: other values are refused"},
    {"strategy.pipeline", "1 or map", "1", "not yet: other values are refused"},
    {"strategy.pipeline.stages", "1", "1", "not yet: other values are refused"},
    {"strategy.pipeline.microbatches", "1", "1", "not yet: other values are refused"},
    {"strategy.pipeline.schedule", "1f1b, gpipe, interleaved or zero_bubble", "1f1b", "without effect on one stage"},
    {"strategy.expert", "1", "1", "not yet: other values are refused"},
    {"strategy.context", "1", "1", "not yet: other values are refused"},
    {"strategy.zero", "0", "0", "not yet: other values are refused"},
    {"strategy.shard_group", "all", "all", "not yet: other values are refused"},

    {"framework", "name, path or map: pytorch-ddp", kRequired, "host cost, exchange and transport; workloads/README.md has the grammar"},
    {"framework.name", "text", "the file's name", "of an inline framework"},
    {"framework.source", "text", kNone, "where the figures come from"},
    {"framework.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"framework.host", "map", kRequired, "work of the host's threads"},
    {"framework.host.forward_operator", "time, as 9 us", kRequired, "to issue one operator forward"},
    {"framework.host.backward_operator", "time, as 7 us", kRequired, "to issue one operator backward"},
    {"framework.host.step", "time, as 200 us", kRequired, "once a step"},
    {"framework.host.optimizer_tensor", "time, as 5 us", kRequired, "to issue the update of one tensor"},
    {"framework.host.shared", "true or false", "false", "one interpreter issues for all GPUs"},
    {"framework.exchange", "map", kRequired, "how it sums gradients unless the strategy says otherwise"},
    {"framework.exchange.algorithm", "auto, ring, direct, parameter_server_cpu, parameter_server_gpu or gather", kRequired, "auto leaves the choice"},
    {"framework.exchange.bucket", "size, each_tensor or whole_model", kRequired, "least size of a piece"},
    {"framework.exchange.first_bucket", "size, as 1 MiB", "bucket", "least size of the first piece of a step"},
    {"framework.exchange.overlap", "true or false", kRequired, "pieces leave while earlier layers still compute"},
    {"framework.exchange.compact", "true or false", "false", "gradients travel in the compute precision, not in fp32"},
    {"framework.exchange.call", "time, as 30 us", kRequired, "software cost of each exchange"},
    {"framework.transport", "map", kRequired, "what carries the numbers"},
    {"framework.transport.message", "time, as 8 us", kRequired, "software cost of a message or ring step"},
    {"framework.transport.direct_rate", "rate, as 9 GB/s", kNone, "ceiling of a copy between GPUs that reach each other"},
    {"framework.transport.staged_rate", "rate, as 5.5 GB/s", kNone, "ceiling of a copy through host memory"},
    {"framework.transport.server_rate", "rate, as 10 GB/s", "10 GB/s", "gradient bytes a parameter server on the CPU adds up a second"},
    {"framework.transport.interference", "0 to 0.95", kRequired, "fraction of its speed a GPU loses while it exchanges"},
    {"framework.fused", "map", "nothing fused", "what it fuses"},
    {"framework.fused.elementwise", "true or false", "false", "element-wise operators join their neighbours"},
    {"framework.fused.attention", "true or false", "false", "flash attention"},
    {"framework.fused.optimizer", "true or false", "false", "one kernel updates all tensors"},
    {"framework.optimizer_on_server", "true or false", "false", "a parameter server updates"},
    {"framework.sparse_embedding", "true or false", "false", "embedding gradients travel as the rows used"},
    {"framework.base_memory", "size, as 800 MiB", kRequired, "context and libraries on every GPU"},

    {"input", "map", "never the limit", "where samples come from"},
    {"input.bytes_per_sample", "size, as 110 kB", kRequired, "stored size"},
    {"input.decode_per_core", "samples a second, as 250 /s", kNone, "what one core prepares; with cores"},
    {"input.cores", "whole number", kNone, "cores of a node that prepare samples; with decode_per_core"},
    {"input.storage", "rate, as 500 MB/s", kNone, "read rate of the node's storage"},

    {"sweep", "map of paths and lists: {cluster.gpus: [1, 2, 4]}", kNone, "points of `gpuscale sweep`; later axes vary faster"},
});
// clang-format on

/// Keys whose value may be an inline map that the schema does not follow to the end.
constexpr std::array<std::string_view, 3> kOpenEnded = {"workload.model.blocks", "workload.model.layers",
                                                        "cluster.machine"};

bool is_below(std::string_view path, std::string_view above) {
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '.';
}

}  // namespace

std::span<const SchemaKey> scenario_schema() { return kSchema; }

bool is_scenario_path(std::string_view path) {
  const bool known = std::ranges::find(kSchema, path, &SchemaKey::path) != kSchema.end();
  return (known && path != "sweep") ||
         std::ranges::any_of(kOpenEnded, [&](std::string_view open) { return is_below(path, open); });
}

}  // namespace gpuscale
