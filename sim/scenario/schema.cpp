#include "scenario/schema.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

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
    {"workload.model.layers", "list", "required without transformer", "the layers in forward order"},
    {"workload.model.transformer", "map", kNone, "instead of layers: sizes of a Transformer; workloads/README.md has its keys"},
    {"workload.transfer", "map", "required without model", "one copy from the first GPU to the second, no training"},
    {"workload.transfer.numbers", "whole number", kRequired, "how many values are copied"},
    {"workload.batch", "'64 per gpu' or '256 global'", "required with a model", "samples a step: per gpu is weak scaling, global is strong scaling"},
    {"workload.precision", "fp64, fp32, tf32, fp16, bf16 or fp8", "fp32", "number format of the arithmetic"},
    {"workload.passes", "all or forward", "all", "forward: inference, without backward pass, exchange of gradients and update"},
    {"workload.sequence", "whole number", "the model's", "sequence length in place of the model's"},
    {"workload.optimizer", "sgd, sgd_momentum, adam, adamw, lamb or adam_8bit", "sgd_momentum", "decides the state kept per parameter"},
    {"workload.calibrate", "map or path: my-box.yaml", kNone, "scales times to measurements: one throughput, or the factors that 'gpuscale calibrate' writes"},
    {"workload.calibrate.name", "text", "the file's name", "what the calibration is called"},
    {"workload.calibrate.source", "text", kNone, "which measurements it comes from"},
    {"workload.calibrate.as_of", "date, as 2026-11-30", kNone, "when they were made"},
    {"workload.calibrate.throughput_1gpu", "samples a second, as 207 /s", kNone, "measured on one such GPU"},
    {"workload.calibrate.products", "factor, as 1.1", "1", "on the time of products, convolutions, recurrent layers, attention"},
    {"workload.calibrate.streams", "factor", "1", "on the time of everything else that a GPU computes"},
    {"workload.calibrate.host", "factor", "1", "on the framework's host costs"},
    {"workload.calibrate.exchange", "factor", "1", "on the time of exchanges"},

    {"cluster", "map", kRequired, "the hardware"},
    {"cluster.name", "name, path or map", kNone, "a cluster file with machine, gpu, nodes, fabric; keys beside it come first"},
    {"cluster.machine", "name, path or map: workstation-4x-pcie3-x8", kRequired, "the box; topologies/README.md has the grammar"},
    {"cluster.machine.name", "text", "the file's name", "of an inline machine"},
    {"cluster.machine.source", "text", kNone, "where the figures come from"},
    {"cluster.machine.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"cluster.machine.like", "name, path or map of a machine", kNone, "starts from that machine; the keys below change it"},
    {"cluster.machine.remove", "list, as [nic0, {between: [gpu0, gpu1]}]", kNone, "devices and links of that machine to leave out"},
    {"cluster.machine.gpudirect", "true or false", "true", "network adapters reach the memory of cards that allow it without the host"},
    {"cluster.machine.devices", "map of names, ranges as gpu[0-3]", "required without like", "what is in the box"},
    {"cluster.machine.devices.NAME.kind", "gpu, cpu, memory, pcie_switch, nvswitch, nic or network_switch", kRequired, "what the device is"},
    {"cluster.machine.devices.NAME.peer_rate", "rate, as 10 GB/s", kNone, "cpu: all peer traffic its root complex passes"},
    {"cluster.machine.devices.NAME.staging_rate", "rate, as 20 GB/s", kNone, "memory: all copies between GPUs that pass through it"},
    {"cluster.machine.links", "list", "required without like", "how devices are connected"},
    {"cluster.machine.links[].between", "two devices or ranges, as [gpu0, cpu0]", kRequired, "the two ends"},
    {"cluster.machine.links[].type", "link type, as pcie-3 x16", kRequired, "a file of topologies/links and the lanes taken"},
    {"cluster.gpu", "name, path or map: gtx-1080-ti; list: [rtx-3090, gtx-1080]; map of slots or nodes", kRequired, "the card in every GPU slot, or which sits where"},
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
    {"cluster.gpu.memory.ecc", "true or false", "false", "error-correcting codes in the same chips take a sixteenth of the size"},
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
    {"cluster.gpu.own_host", "number, as 0.3", "a host beside it", "of a processor that runs the program itself: speed of its core, a Xeon's is 1"},
    {"cluster.gpu.cooler", "blower, open_air or water", kNone, "of the reference design"},
    {"cluster.gpu.power", "map", kRequired, "power"},
    {"cluster.gpu.power.limit", "power, as 250 W", kRequired, "board limit"},
    {"cluster.gpu.power.idle", "power, as 9 W", kRequired, "doing nothing"},
    {"cluster.gpus", "whole number", kRequired, "how many GPUs the job uses, over all nodes"},
    {"cluster.nodes", "whole number", "1", "boxes"},
    {"cluster.fabric", "name, path or map: fdr-infiniband", "required with nodes above 1", "what joins the boxes"},
    {"cluster.fabric.name", "text", "the file's name", "of an inline fabric"},
    {"cluster.fabric.source", "text", kNone, "where the figures come from"},
    {"cluster.fabric.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"cluster.fabric.kind", "switch, leaf_spine, fat_tree, rail_optimised, torus, dragonfly or graph", "switch", "how switches are arranged; topologies/README.md has the grammar"},
    {"cluster.fabric.link", "link type, as hdr-infiniband", kRequired, "from each network adapter to its switch"},
    {"cluster.fabric.switch_latency", "time, as 200 ns", kRequired, "one crossing of one switch"},
    {"cluster.fabric.uplink", "link type", "that of link", "between switches"},
    {"cluster.fabric.leaf_ports", "whole number", kRequired, "leaf_spine: adapters below a leaf"},
    {"cluster.fabric.leaf_boxes", "whole number", kRequired, "rail_optimised: boxes below the leaves of a group, one leaf a rail"},
    {"cluster.fabric.oversubscription", "number, as 2", "1", "leaf_spine, rail_optimised: rate into a leaf from below over its rate upwards"},
    {"cluster.fabric.spines", "whole number", "one for each uplink of a leaf", "leaf_spine, rail_optimised: switches above the leaves"},
    {"cluster.fabric.ports", "even number", "the fewest that fit", "fat_tree: ports of every switch"},
    {"cluster.fabric.size", "list, as [4, 4, 4]", kRequired, "torus: positions along each dimension, one for each adapter"},
    {"cluster.fabric.block", "list, as [2, 2, 1]", "a row", "torus: the positions that the adapters of a box fill"},
    {"cluster.fabric.wrap", "true or false", "true", "torus: the last position of a dimension is linked to the first"},
    {"cluster.fabric.adapters", "whole number", kRequired, "dragonfly: adapters at a router"},
    {"cluster.fabric.routers", "whole number", "twice adapters", "dragonfly: routers of a group, all linked to each other"},
    {"cluster.fabric.global_links", "whole number", "as adapters", "dragonfly: links of a router to other groups"},
    {"cluster.fabric.global_link", "link type", "that of uplink", "dragonfly: between groups"},
    {"cluster.fabric.switches", "list of names, ranges as leaf[0-3]", kRequired, "graph: its switches"},
    {"cluster.fabric.links", "list", kRequired, "graph: between switches, and from adapters (node0.nic0) to switches"},
    {"cluster.fabric.links[].between", "two names or ranges, as [\"node[0-3].nic0\", leaf0]", kRequired, "the two ends"},
    {"cluster.fabric.links[].type", "link type", "that of link", "a file of topologies/links and the lanes taken"},
    {"cluster.fabric.equal_cost", "map", kNone, "how transfers share equally short ways"},
    {"cluster.fabric.equal_cost.collisions", "true or false", "false", "hash transfers onto ways, so that some collide, in place of spreading them"},
    {"cluster.fabric.equal_cost.seed", "whole number", "1", "of the hash"},
    {"cluster.placement", "packed or spread", "packed", "fill a box before the next, or deal ranks round the boxes"},
    {"cluster.peer_to_peer", "true or false", "as the card", "false: no direct copies between GPUs, over NVLink neither (as NCCL_P2P_DISABLE=1); true: over PCIe whatever the card's driver says"},
    {"cluster.gpudirect", "true or false", "as card and machine", "network adapters reach GPU memory without the host"},
    {"cluster.cooling", "map, or blower, open_air or water", "cards keep up their clocks", "how cards side by side are cooled, which may lower their clocks"},
    {"cluster.cooling.cooler", "blower, open_air or water", "the card's", "a blower leaves its heat outside the case, open air inside"},
    {"cluster.cooling.neighbours", "whole number", "the other cards of the box", "cards side by side with the hottest"},
    {"cluster.power_limit", "power, as 200 W", "the card's", "a lower limit: the clock falls until the card keeps it"},
    {"cluster.spread", "fraction, as 0.015", "the family's", "standard deviation of compute time between cards of one kind; who works in step waits for the slowest"},
    {"cluster.background", "map of kinds of links", "no other traffic", "what others take of every link of a kind"},
    {"cluster.background.pcie", "fraction, as 0.2", "0", "of the rate"},
    {"cluster.background.nvlink", "fraction", "0", "of the rate"},
    {"cluster.background.socket", "fraction", "0", "of the rate"},
    {"cluster.background.memory", "fraction", "0", "of the rate"},
    {"cluster.background.infiniband", "fraction", "0", "of the rate"},
    {"cluster.background.ethernet", "fraction", "0", "of the rate"},
    {"cluster.background.fabric", "fraction", "0", "of the rate, of links between TPUs"},
    {"cluster.equal_cost", "map", "the fabric's", "how transfers share equally short ways"},
    {"cluster.equal_cost.collisions", "true or false", "false", "hash transfers onto ways, so that some collide, in place of spreading them"},
    {"cluster.equal_cost.seed", "whole number", "1", "of the hash"},

    {"strategy", "map", "data parallel", "how the job is split; degrees multiply to the GPU count"},
    {"strategy.data", "whole number or auto", "auto", "replicas; auto is whatever is left"},
    {"strategy.batch_split", "even or proportional", "even", "samples of each replica: the same, or by the speed of its GPU, for unlike GPUs"},
    {"strategy.model", "whole number or map", "1", "GPUs that share linear and recurrent layers"},
    {"strategy.model.degree", "whole number", kRequired, "the same, in the long form"},
    {"strategy.model.sub_batch", "whole number", "the whole batch", "samples whose activations travel while the next compute"},
    {"strategy.model.whole", "true or false", "false", "linear layers whole on every GPU for the samples of all; convolutions come first"},
    {"strategy.model.update_each", "true or false", "false", "linear and recurrent layers are updated after every sub-batch"},
    {"strategy.model.codec", "none, fp16, bf16, int8, int4 or one_bit", "none", "compression of activations"},
    {"strategy.independent", "true or false", "false", "every GPU trains a job of its own"},
    {"strategy.exchange", "map", "the framework's", "how gradients are summed"},
    {"strategy.exchange.algorithm", "auto, ring, direct, one_shot, double_tree, halving_doubling, hierarchical, in_switch, torus, tree, parameter_server_cpu, parameter_server_gpu or gather", "auto", "auto is the framework's; if that is auto too, the fastest alone"},
    {"strategy.exchange.fidelity", "coupled or stepwise", "coupled", "stepwise: every step of every rank a flow of its own"},
    {"strategy.exchange.bucket", "size, as 25 MiB", "the framework's", "gradients are sent in pieces of at least this size"},
    {"strategy.exchange.overlap", "true or false", "the framework's", "pieces leave while earlier layers still compute"},
    {"strategy.exchange.codec", "none, fp16, bf16, int8, int4, one_bit (1-bit), top_k (top-k) or low_rank", "none", "compression of gradients"},
    {"strategy.exchange.codec_from", "size, as 64 KiB", "0 B", "smaller tensors travel without codec"},
    {"strategy.exchange.rank", "whole number", "4", "of the factors of the low_rank codec (PowerSGD)"},
    {"strategy.exchange.schedule", "fifo or priority", "the framework's", "priority: layers nearest the input first, and each layer of the next step waits for its own weights only (ByteScheduler, P3)"},
    {"strategy.exchange.partition", "size, as 4 MB", "the framework's", "with priority: a larger tensor is cut into pieces of at most this; 64 kB or more"},
    {"strategy.exchange.credit", "size, as 16 MB", "the framework's", "with priority: as much travels at once"},
    {"strategy.exchange.delayed", "true or false", "false", "gradients of the step before travel while this one computes (double buffering)"},
    {"strategy.tensor", "whole number or map", "1", "GPUs that divide each layer (Megatron-LM)"},
    {"strategy.tensor.degree", "whole number", "1", "the same, in the long form"},
    {"strategy.tensor.sequence_parallel", "true or false", "false", "norms and dropout divided by positions"},
    {"strategy.tensor.overlap", "0 to 0.99", "0", "part of its exchanges that runs beside the products"},
    {"strategy.tensor.codec", "none, fp16, bf16, int8, int4 or one_bit", "none", "compression of activations"},
    {"strategy.pipeline", "whole number or map", "1", "stages that hold consecutive layers"},
    {"strategy.pipeline.stages", "whole number", "1", "the same, in the long form; 1 with microbatches: accumulation"},
    {"strategy.pipeline.microbatches", "whole number", "1", "of each copy of the model in a step"},
    {"strategy.pipeline.micro_batch", "whole number", kNone, "samples of one, instead of their number"},
    {"strategy.pipeline.schedule", "1f1b, gpipe, interleaved or zero_bubble", "1f1b", "order of a stage's passes"},
    {"strategy.pipeline.chunks", "whole number", "2 if interleaved", "parts of the model on each stage"},
    {"strategy.pipeline.split", "list, as [12, 13, 13, 10]", "even", "blocks of each part, in model order"},
    {"strategy.pipeline.codec", "none, fp16, bf16, int8, int4 or one_bit", "none", "compression of what stages send"},
    {"strategy.expert", "whole number or map", "1", "copies of the model that divide the experts"},
    {"strategy.expert.degree", "whole number", "1", "the same, in the long form"},
    {"strategy.expert.imbalance", "number from 1", "1", "visits of the busiest rank over an even share"},
    {"strategy.context", "whole number or map", "1", "GPUs that divide each sequence"},
    {"strategy.context.degree", "whole number", "1", "the same, in the long form"},
    {"strategy.context.method", "ring or all_to_all", "ring", "how attention sees the positions of others"},
    {"strategy.context.balanced", "true or false", "true", "each rank gets both ends of a masked sequence"},
    {"strategy.zero", "0, 1, 2 or 3", "0", "copies share out optimizer state, gradients, parameters (3: FSDP)"},
    {"strategy.shard_group", "all or node", "all", "among all copies, or those of a node (hybrid sharding)"},
    {"strategy.prefetch", "whole number", "1", "units gathered ahead of the one that computes"},
    {"strategy.recompute", "none, selective, alternate or full", "none", "activations made again: scores, every second product, all"},
    {"strategy.offload_optimizer", "true or false", "false", "optimizer state and its update in host memory, on the processors"},
    {"strategy.asynchronous", "true or false", "false", "workers push to and pull from a server without waiting for each other"},
    {"strategy.average_every", "whole number", "1", "steps between averages of the parameters (local SGD)"},
    {"strategy.order", "list of axes", "[tensor, context, data, pipeline]", "how ranks are numbered, neighbours first"},
    {"strategy.fold", "true or false", "true", "GPUs that are alike are simulated once, with the same result"},

    {"framework", "name, path or map: pytorch-ddp", kRequired, "host cost, exchange and transport; workloads/README.md has the grammar"},
    {"framework.name", "text", "the file's name", "of an inline framework"},
    {"framework.source", "text", kNone, "where the figures come from"},
    {"framework.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"framework.host", "map", kRequired, "work of the host's threads"},
    {"framework.host.forward_operator", "time, as 9 us", kRequired, "to issue one operator forward"},
    {"framework.host.backward_operator", "time, as 7 us", kRequired, "to issue one operator backward"},
    {"framework.host.forward_block", "time, as 1 ms", "0 s", "of a Transformer block forward, beside its operators"},
    {"framework.host.backward_block", "time, as 1 ms", "0 s", "of a Transformer block backward, beside its operators"},
    {"framework.host.microbatch", "time, as 1 ms", "0 s", "once a microbatch on every stage"},
    {"framework.host.step", "time, as 200 us", kRequired, "once a step"},
    {"framework.host.replica", "time, as 3 ms", "0 s", "with algorithm gather: to make the replica of a GPU"},
    {"framework.host.replica_tensor", "time, as 60 us", "0 s", "with algorithm gather: for each tensor of a replica"},
    {"framework.host.optimizer_tensor", "time, as 5 us", kRequired, "to issue the update of one tensor"},
    {"framework.host.shared", "true or false", "false", "one interpreter issues for all GPUs"},
    {"framework.exchange", "map", kRequired, "how it sums gradients unless the strategy says otherwise"},
    {"framework.exchange.algorithm", "auto, ring, direct, one_shot, double_tree, halving_doubling, hierarchical, in_switch, torus, tree, "
     "parameter_server_cpu, parameter_server_gpu or gather", kRequired, "auto leaves the choice"},
    {"framework.exchange.bucket", "size, each_tensor or whole_model", kRequired, "least size of a piece"},
    {"framework.exchange.first_bucket", "size, as 1 MiB", "bucket", "least size of the first piece of a step"},
    {"framework.exchange.overlap", "true or false", kRequired, "pieces leave while earlier layers still compute"},
    {"framework.exchange.compact", "true or false", "false", "gradients travel in the compute precision, not in fp32"},
    {"framework.exchange.schedule", "fifo or priority", "fifo", "which of the pieces that are ready leaves first"},
    {"framework.exchange.partition", "size, as 4 MB", "4 MB", "with priority: a larger tensor is cut into pieces of at most this; 64 kB or more"},
    {"framework.exchange.credit", "size, as 16 MB", "16 MB", "with priority: as much travels at once"},
    {"framework.exchange.owner", "first_gpu, least_bytes or largest_first", "first_gpu", "with parameter_server_gpu: where a tensor is summed"},
    {"framework.exchange.servers", "map", "one for all boxes", "with a parameter server: one beside each box"},
    {"framework.exchange.servers.split_from", "number", "1e6", "numbers from which a tensor is divided over all servers"},
    {"framework.exchange.servers.per_box", "count", "1", "servers in each box; each adds up in one thread"},
    {"framework.exchange.servers.in_turn", "true or false", "false", "boxes sum one tensor after the other, the first layer's first"},
    {"framework.exchange.servers.each_gpu", "true or false", "false", "every GPU is a worker and sends its own gradients; else a box sends its sum"},
    {"framework.exchange.servers.message_rate", "rate, as 900 MB/s", "what the links carry", "what one server takes in and gives out, as remote procedure calls"},
    {"framework.exchange.call", "time, as 30 us", kRequired, "software cost of each exchange"},
    {"framework.transport", "name, path or map: nccl-2.27", kRequired, "what carries the numbers"},
    {"framework.transport.name", "text", "the file's name", "of an inline transport"},
    {"framework.transport.source", "text", kNone, "where the figures come from"},
    {"framework.transport.as_of", "date, as 2026-11-30", kNone, "when the source said so"},
    {"framework.transport.like", "name, as nccl-2.27", kNone, "the transport that says what is not written here"},
    {"framework.transport.protocols", "list of ll, ll128 and simple", kNone, "which of the links' protocols it speaks"},
    {"framework.transport.algorithms", "list, as [ring, double_tree]", "all", "from which auto chooses"},
    {"framework.transport.start", "time, as 3 us", "0 s", "software cost, once an exchange"},
    {"framework.transport.peer", "time, as 300 ns", "0 s", "of each further rank that a rank sends to at once"},
    {"framework.transport.launch", "time, as 4 us", "0 s", "of each rank of a node, started one after the other by one thread"},
    {"framework.transport.launch_peer", "time, as 1.5 us", "0 s", "the same for each peer of each rank"},
    {"framework.transport.own_copy", "number", "0", "pace of copying a rank's own part, in paces on the wire; 0: no cost"},
    {"framework.transport.in_switch", "true or false", "false", "the switches of a box add up where they can"},
    {"framework.transport.in_network", "true or false", "false", "network switches add up where they can"},
    {"framework.transport.message", "time, as 8 us", kRequired, "software cost of a message or ring step"},
    {"framework.transport.direct_rate", "rate, as 9 GB/s", kNone, "ceiling of a copy between GPUs that reach each other"},
    {"framework.transport.one_process", "true or false", "false", "one process drives all GPUs of a box: copies through host memory use that of its first GPU"},
    {"framework.transport.staged_rate", "rate, as 5.5 GB/s", kNone, "what a GPU sends of copies through host memory while it receives as much"},
    {"framework.transport.staged_crowd", "rate, as 80 GB/s", kNone, "h ranks through host memory at once reach this over h^2 each"},
    {"framework.transport.staged_least", "rate, as 12 GB/s", kNone, "which those ranks together never fall below"},
    {"framework.transport.server_rate", "rate, as 10 GB/s", "10 GB/s", "gradient bytes a parameter server on the CPU adds up a second"},
    {"framework.transport.interference", "0 to 0.95", kRequired, "fraction of its speed a GPU loses while it exchanges"},
    {"framework.kernel_efficiency", "number", "1", "rate of its products relative to the family's; up to 1.5"},
    {"framework.attention_efficiency", "number", "1", "rate of its fused attention, relative to the family's"},
    {"framework.convolution", "map", "tensors as kernels want them, no limit", "how it calls the convolution library"},
    {"framework.convolution.channels_first", "true or false", "false", "tensors that 16-bit kernels on matrix units must turn"},
    {"framework.convolution.channels_last", "true or false", "false", "tensors that kernels without matrix units must turn"},
    {"framework.convolution.workspace", "size", "no limit", "memory that a convolution algorithm may use"},
    {"framework.fused", "map", "nothing fused", "what it fuses"},
    {"framework.fused.elementwise", "true or false", "false", "element-wise operators join their neighbours"},
    {"framework.fused.attention", "true or false", "false", "flash attention"},
    {"framework.fused.optimizer", "true or false", "false", "one kernel updates all tensors"},
    {"framework.optimizer_on_server", "true or false", "false", "who sums a tensor updates it: a parameter server"},
    {"framework.written_out", "name, path or map: tensorflow-1", "a kernel for each", "operators made of simpler ones; workloads/README.md has the grammar"},
    {"framework.feed", "rate, as 1.7 GB/s", "samples are there", "at which an interpreter hands over samples before each step"},
    {"framework.sub_batches_in_turn", "true or false", "false", "a sub-batch of split layers goes forward and back before the next computes"},
    {"framework.blocking_sends", "true or false", "true", "a pipeline stage waits for what it sends"},
    {"framework.gradients_fp32", "true or false", "false", "sums gradients in fp32 buffers whatever the precision"},
    {"framework.dtensor", "true or false", "false", "PyTorch's DTensor divides layers and shards parameters (FSDP2)"},
    {"framework.contiguous_gradients", "true or false", "false", "gradients lie in one buffer, from which pieces are sent"},
    {"framework.wide_loss", "true or false", "false", "an fp32 copy of the scores is made for the loss"},
    {"framework.sparse_embedding", "true or false", "false", "embedding gradients travel as the rows used"},
    {"framework.base_memory", "size, as 800 MiB", kRequired, "context and libraries on every GPU"},

    {"input", "map", "never the limit", "where samples come from"},
    {"input.bytes_per_sample", "size, as 110 kB", kRequired, "stored size"},
    {"input.decode_per_core", "samples a second, as 250 /s", kNone, "what one core prepares; with cores"},
    {"input.cores", "whole number", kNone, "cores of a node that prepare samples; with decode_per_core"},
    {"input.storage", "rate, as 500 MB/s", kNone, "read rate of the node's storage"},
    {"input.shared_storage", "rate, as 10 GB/s", kNone, "read rate of storage that all nodes share"},
    {"input.copied_per_sample", "size, as 600 kB", "the model's input", "what is copied to the GPU, over the links that exchanges use too"},
    {"input.ram_per_sample", "size, as 2 MB", "0 B", "what decoding and augmenting read and write in host memory"},

    {"sweep", "map of paths and lists: {cluster.gpus: [1, 2, 4]}", kNone, "points of `gpuscale sweep`; later axes vary faster"},
});
// clang-format on

/// Keys whose value may be an inline map that the schema does not follow to the end.
constexpr std::array<std::string_view, 4> kOpenEnded = {"workload.model.blocks", "workload.model.layers",
                                                        "workload.model.transformer", "cluster.machine"};

/// Keys whose value may be a file or an inline map of its own.
constexpr auto kData =
    std::to_array<std::string_view>({"workload.model", "workload.calibrate", "cluster.machine", "cluster.gpu",
                                     "cluster.fabric", "framework.transport", "framework"});

bool is_below(std::string_view path, std::string_view above) {
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '.';
}

/// The data that a path is of or below; empty for a key of the scenario itself.
std::string_view data_of(std::string_view path) {
  const auto found =
      std::ranges::find_if(kData, [&](std::string_view data) { return path == data || is_below(path, data); });
  return found == kData.end() ? std::string_view() : *found;
}

/// The data that a key stands in; the key that names the data stands outside it.
std::string_view data_around(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : data_of(path.substr(0, dot));
}

}  // namespace

std::span<const SchemaKey> scenario_schema() { return kSchema; }

std::string key_elsewhere(std::string_view key, std::string_view path) {
  constexpr std::size_t kMostNames = 4;
  constexpr auto kEverywhere = std::to_array<std::string_view>({"name", "source", "as_of", "description"});
  if (std::ranges::find(kEverywhere, key) != kEverywhere.end()) return {};
  const std::string_view home = data_of(path);
  std::array<std::vector<std::string_view>, 3> found;  // below the map, in the scenario, in data
  for (const SchemaKey& known : kSchema) {
    const std::size_t dot = known.path.rfind('.');
    if (known.path.substr(dot + 1) != key || known.path.substr(0, std::min(dot, known.path.size())) == path) continue;
    const std::string_view data = data_around(known.path);
    const bool below = path.empty() ? data.empty() : is_below(known.path, path) && data == home;
    if (below) {
      found[0].push_back(known.path);
    } else if (data.empty() && home.empty()) {
      found[1].push_back(known.path);
    } else if (home.empty() || data == home) {
      found[2].push_back(known.path);
    }
  }
  const auto nearest = std::ranges::find_if(found, [](const auto& paths) { return !paths.empty(); });
  if (nearest == found.end() || nearest->size() > kMostNames) return {};
  std::string names;
  for (const std::string_view name : *nearest) {
    const bool last = name == nearest->back();
    const std::string_view where = name.find('.') == std::string_view::npos ? " at the top of the scenario" : "";
    names += fmt::format("{}'{}'{}", names.empty() ? "" : last ? " or " : ", ", name, where);
  }
  return fmt::format("; did you mean {}?", names);
}

bool is_scenario_path(std::string_view path) {
  const bool known = std::ranges::find(kSchema, path, &SchemaKey::path) != kSchema.end();
  return (known && path != "sweep") ||
         std::ranges::any_of(kOpenEnded, [&](std::string_view open) { return is_below(path, open); });
}

}  // namespace gpuscale
