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
#include "topology/topology.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// How gradients are summed over ranks. `automatic` takes the framework's.
enum class ExchangeAlgorithm { automatic, ring, direct, tree, parameter_server_cpu, parameter_server_gpu, gather };

inline constexpr std::array<std::string_view, 7> kExchangeAlgorithmNames = {
    "auto", "ring", "direct", "tree", "parameter_server_cpu", "parameter_server_gpu", "gather"};

constexpr std::string_view name(ExchangeAlgorithm algorithm) {
  return kExchangeAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

/// What a transport (NCCL, MPI, the driver's copies) delivers on top of the links below it.
struct Transport {
  Seconds message = {};                            ///< software cost of one message or one ring step
  std::optional<BytesPerSecond> direct_rate = {};  ///< ceiling of one copy over PCIe or a network without the host
  std::optional<BytesPerSecond> staged_rate = {};  ///< ceiling of one copy through host memory
  BytesPerSecond server_rate{10e9};  ///< gradient bytes a parameter server on the CPU adds up or updates per second
  double interference = 0.0;         ///< fraction of its speed a GPU loses to compute while it exchanges, 0..1
};

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
  Seconds call = {};              ///< software cost, once an exchange
  std::uint32_t label = 0;        ///< of the transfers
  std::uint32_t codec_label = 0;  ///< of encode and decode
};

/// The tasks between which an exchange stands, one a rank.
using RankTasks = std::vector<TaskId>;

}  // namespace gpuscale
