#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "collective/exchange.hpp"
#include "hardware/kernel.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// Host work of a framework: what its threads must do before the GPU can.
struct HostCost {
  Seconds forward_operator = {};   ///< to issue one operator of the forward pass
  Seconds backward_operator = {};  ///< the same in the backward pass
  /// To run through one Transformer block beside its operators: modules, random states, checkpoints, autograd.
  Seconds forward_block = {};
  Seconds backward_block = {};
  Seconds microbatch = {};        ///< once a microbatch on every stage: schedule, input, loss scale
  Seconds step = {};              ///< once a step: session, loss read-back, zeroing, data hand-over
  Seconds optimizer_tensor = {};  ///< to issue the update of one parameter tensor
  bool shared = false;            ///< one interpreter issues for all GPUs of a process (GIL)
};

/// Every time of a HostCost.
inline constexpr std::array kHostCosts = {&HostCost::forward_operator, &HostCost::backward_operator,
                                          &HostCost::forward_block,    &HostCost::backward_block,
                                          &HostCost::microbatch,       &HostCost::step,
                                          &HostCost::optimizer_tensor};

/// Which of the pieces that are ready leaves first. fifo: the first that was; the next step waits for all. priority:
/// that of the layer nearest the input, and each layer of the next step waits for its own weights only.
enum class ExchangeSchedule { fifo, priority };

inline constexpr std::array<std::string_view, 2> kExchangeScheduleNames = {"fifo", "priority"};

/// How a framework exchanges gradients when the scenario does not say otherwise.
struct ExchangeHabit {
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::ring;
  Bytes bucket = {};         ///< gradients are sent in pieces of at least this size; 0: every tensor alone
  Bytes first_bucket = {};   ///< the first piece of a step, 0: as `bucket`
  bool whole_model = false;  ///< one exchange of everything
  bool overlap = true;       ///< a piece leaves while earlier layers still compute
  bool compact = false;      ///< gradients travel in the compute precision, not in fp32
  Seconds call = {};         ///< software cost of each exchange, on the exchange's own path
  ExchangeSchedule schedule = ExchangeSchedule::fifo;
  Bytes partition{4e6};  ///< with priority: a larger tensor is cut into pieces of at most this
  Bytes credit{16e6};    ///< with priority: as much travels at once; the last piece may exceed it
};

/// What a framework (with its libraries, in a given era) does with a training step. Files:
/// workloads/frameworks; each constant carries its source there.
struct Framework {
  std::string id = {};
  std::string name = {};
  std::string source = {};
  HostCost host;
  ExchangeHabit exchange;
  Transport transport;
  /// Rate of its matrix products, convolutions and recurrent kernels relative to the GPU family's, which are those
  /// of the libraries that the family was measured with; above one: newer libraries; (0, 1.5].
  double kernel_efficiency = 1.0;
  /// Rate of its fused attention relative to the GPU family's, which is that of the fastest kernels measured; (0, 1.5].
  double attention_efficiency = 1.0;
  bool fused_elementwise = false;     ///< a compiler fuses element-wise operators into their neighbours
  ConvolutionHabit convolution = {};  ///< how it calls the convolution library
  bool wide_loss = false;             ///< an fp32 copy of the scores is made for the loss
  bool fused_attention = false;       ///< flash attention
  bool fused_optimizer = false;       ///< one kernel for all tensors
  bool optimizer_on_server = false;   ///< a parameter server updates; otherwise every GPU does
  bool gradients_fp32 = false;        ///< sums gradients in fp32 buffers whatever the precision
  bool dtensor = false;               ///< PyTorch's DTensor divides layers and shards parameters (FSDP2)
  bool contiguous_gradients = false;  ///< gradients lie in one buffer, from which pieces are sent
  bool blocking_sends = true;         ///< a pipeline stage waits for what it sends before it goes on
  /// A sub-batch of split layers goes forward and backward before the next one computes, whose activations alone travel
  /// beside it. Otherwise whatever is ready computes.
  bool sub_batches_in_turn = false;
  bool sparse_embedding = false;  ///< embedding gradients travel as the rows that were used
  Bytes base_memory = {};         ///< context, libraries and allocator slack on every GPU
};

}  // namespace gpuscale
