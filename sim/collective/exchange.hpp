#pragma once

/// \file
/// The words of an exchange: algorithms, what a transport delivers, who takes part.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collective/codec.hpp"
#include "plan/plan.hpp"
#include "topology/cluster.hpp"
#include "topology/topology.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// What ranks do with a tensor together. Names as in NCCL and MPI.
enum class Collective { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, reduce, send };

inline constexpr std::array<std::string_view, 7> kCollectiveNames = {
    "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce", "send"};

constexpr std::string_view name(Collective collective) {
  return kCollectiveNames[static_cast<std::size_t>(collective)];
}

/// How an exchange is done. `automatic` takes the framework's; if that says auto too, the fastest for each size.
/// `tree` is the tree of whole tensors that Caffe used, `double_tree` NCCL's pipelined pair of trees.
enum class ExchangeAlgorithm {
  automatic,
  ring,
  direct,
  tree,
  parameter_server_cpu,
  parameter_server_gpu,
  gather,
  one_shot,
  double_tree,
  halving_doubling,
  hierarchical,
  in_switch,
  torus,
};

inline constexpr std::array<std::string_view, 13> kExchangeAlgorithmNames = {"auto",
                                                                             "ring",
                                                                             "direct",
                                                                             "tree",
                                                                             "parameter_server_cpu",
                                                                             "parameter_server_gpu",
                                                                             "gather",
                                                                             "one_shot",
                                                                             "double_tree",
                                                                             "halving_doubling",
                                                                             "hierarchical",
                                                                             "in_switch",
                                                                             "torus"};

constexpr std::string_view name(ExchangeAlgorithm algorithm) {
  return kExchangeAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

/// Whether ranks push to a server and pull from it.
constexpr bool is_server(ExchangeAlgorithm algorithm) {
  return algorithm == ExchangeAlgorithm::parameter_server_cpu || algorithm == ExchangeAlgorithm::parameter_server_gpu;
}

/// Whether tensors travel undivided, to a server or along Caffe's tree.
constexpr bool moves_whole_tensors(ExchangeAlgorithm algorithm) {
  return is_server(algorithm) || algorithm == ExchangeAlgorithm::tree;
}

/// Whether sums are made in one place, so that one rank does what others do not and no sum is ever scattered.
constexpr bool meets_at_one_rank(ExchangeAlgorithm algorithm) {
  return moves_whole_tensors(algorithm) || algorithm == ExchangeAlgorithm::gather;
}

/// How finely an exchange is simulated: as few coupled transfers, or every step of every rank as a flow of
/// its own, which is the oracle of the first and costs accordingly.
enum class Fidelity { coupled, stepwise };

inline constexpr std::array<std::string_view, 2> kFidelityNames = {"coupled", "stepwise"};

/// What a transport (NCCL, MPI, the driver's copies) delivers on top of the links below it. Files:
/// workloads/transports.
struct Transport {
  Seconds message = {};                            ///< software cost of one message or one ring step
  std::optional<BytesPerSecond> direct_rate = {};  ///< ceiling of one copy over PCIe or a network without the host
  /// What a GPU sends of copies through host memory while it receives as much, all exchanges together; twice that one
  /// way: rings of two cards deliver half of what a broadcast does. See build_cluster().
  std::optional<BytesPerSecond> staged_rate = {};
  /// One process drives all GPUs of a box: its buffers for copies through host memory lie in that of its first GPU.
  bool one_process = false;
  /// Copies through host memory crowd each other: h ranks at once reach this over h^2 each. Empty: they do not.
  std::optional<BytesPerSecond> staged_crowd = {};
  BytesPerSecond staged_least{};     ///< which all of them together never fall below
  BytesPerSecond server_rate{10e9};  ///< gradient bytes a parameter server on the CPU adds up or updates per second
  double interference = 0.0;         ///< fraction of its speed a GPU loses to compute while it exchanges, 0..1
  /// Protocols it speaks, which take their steps and rates from the links. Empty: a step costs the links'
  /// latency and `message`, and data moves at the links' rate.
  std::vector<Protocol> protocols = {};
  /// Algorithms it has beside sending directly from rank to rank, from which `auto` chooses. Empty: all.
  std::vector<ExchangeAlgorithm> algorithms = {};
  bool in_switch = false;   ///< lets the switches of a box add up where they can
  bool in_network = false;  ///< the same for network switches
  Seconds start = {};       ///< software cost, once an exchange
  Seconds peer = {};        ///< of each rank that a rank sends to at the same time
  /// Pace at which a kernel copies a rank's own part, as a multiple of its pace on the wire; 0: at no cost.
  double own_copy = 0.0;
  Seconds launch = {};       ///< one thread starts the ranks of a node one after the other: each one's share
  Seconds launch_peer = {};  ///< of each peer of each rank, where ranks send to each other directly
};

/// How it copies between GPUs that do not reach each other.
inline HostCopies host_copies(const Transport& transport) { return {transport.staged_rate, transport.one_process}; }

/// A rank as an exchange sees it.
struct Participant {
  DeviceId gpu = {};
  LaneId compute = {};                ///< where codec kernels and sums run
  BytesPerSecond memory_bandwidth{};  ///< of the card, nominal: codecs scale with it
  BytesPerSecond stream_bandwidth{};  ///< delivered to long streams: sums run at it
};

/// What is exchanged and by which means. All sizes are of the whole tensor, on every rank.
struct Exchange {
  double values = 0;  ///< numbers
  Bytes size = {};    ///< their size without a codec
  CodecKind codec = CodecKind::none;
  Seconds call = {};  ///< software cost, once an exchange
  Fidelity fidelity = Fidelity::coupled;
  std::uint32_t label = 0;        ///< of the transfers
  std::uint32_t codec_label = 0;  ///< of encode and decode
};

/// Runs a plan alone and tells how long it took. Exchanges are planned below the level that has a clock, so who
/// plans them brings it (plan_time() of execution/execute.hpp).
using PlanTimer = Seconds (*)(const Plan&, const Topology&);

/// The tasks between which an exchange stands, one a rank.
using RankTasks = std::vector<TaskId>;

}  // namespace gpuscale
