#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "collective/exchange.hpp"
#include "hardware/kernel.hpp"
#include "units/quantity.hpp"
#include "workload/optimizer.hpp"
#include "workload/written_out.hpp"

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
  Seconds replica = {};         ///< once a pass for each GPU, where replicas of the model are made anew: threads, batch
  Seconds replica_tensor = {};  ///< the same for each parameter tensor
  bool shared = false;          ///< one interpreter issues for all GPUs of a process (GIL)
};

/// Every time of a HostCost.
inline constexpr std::array kHostCosts = {
    &HostCost::forward_operator, &HostCost::backward_operator, &HostCost::forward_block,
    &HostCost::backward_block,   &HostCost::microbatch,        &HostCost::step,
    &HostCost::optimizer_tensor, &HostCost::replica,           &HostCost::replica_tensor};

/// Which of the pieces that are ready leaves first. fifo: the first that was; the next step waits for all. priority:
/// that of the layer nearest the input, and each layer of the next step waits for its own weights only.
enum class ExchangeSchedule { fifo, priority };

inline constexpr std::array<std::string_view, 2> kExchangeScheduleNames = {"fifo", "priority"};

/// On which GPU a whole tensor is summed where a parameter server is on GPUs: all on the first; each on the one that
/// has least to sum so far, in the order of the layers; the same, but the largest tensors are given away first.
enum class TensorOwner { first_gpu, least_bytes, largest_first };

inline constexpr std::array<std::string_view, 3> kTensorOwnerNames = {"first_gpu", "least_bytes", "largest_first"};

/// Parameter servers beside the workers, in each box, where a job has several boxes. What a worker has summed, on a
/// GPU or its CPU, goes to them: tensors from a size on in equal parts to all, smaller ones whole to one.
struct BoxServers {
  double split_from = 1e6;  ///< numbers from which a tensor is divided
  int per_box = 1;          ///< servers in each box; each adds up in one thread
  /// Workers sum one tensor after the other, from the first layer on, the next once this one is in host memory.
  bool in_turn = false;
  /// Every GPU is a worker of its own and sends what it has; else the GPUs of a box are one worker and send their sum.
  bool each_gpu = false;
  /// What one server takes in and gives out a second, all workers together, those of its own box too: remote procedure
  /// calls that one thread packs and unpacks. Empty: as much as the links carry.
  std::optional<BytesPerSecond> message_rate = {};

  bool operator==(const BoxServers&) const = default;
};

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
  Bytes partition{4e6};                        ///< with priority: a larger tensor is cut into pieces of at most this
  Bytes credit{16e6};                          ///< with priority: as much travels at once; the last piece may exceed it
  TensorOwner owner = TensorOwner::first_gpu;  ///< with parameter_server_gpu
  std::optional<BoxServers> servers = {};      ///< with a parameter server, of either kind; empty: one for all boxes
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
  bool fused_elementwise = false;        ///< a compiler fuses element-wise operators into their neighbours
  WrittenOutOperators written_out = {};  ///< what it has no kernels for; a compiler fuses these, too
  std::array<std::optional<WrittenOutUpdate>, kOptimizerNames.size()> written_out_update = {};  ///< by optimizer
  ConvolutionHabit convolution = {};  ///< how it calls the convolution library
  /// Rate at which one thread of a node hands the samples of all its GPUs over before a step begins, beside nothing:
  /// copies of arrays in host memory. Then they are copied to the GPUs. Empty: samples are there.
  std::optional<BytesPerSecond> feed = {};
  bool wide_loss = false;             ///< an fp32 copy of the scores is made for the loss
  bool fused_attention = false;       ///< flash attention
  bool fused_optimizer = false;       ///< one kernel for all tensors
  bool optimizer_on_server = false;   ///< who sums a tensor updates it; otherwise every GPU does
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

inline UpdateHabit update_habit(const Framework& framework, Optimizer optimizer) {
  return {.fused = framework.fused_optimizer,
          .written_out = framework.written_out_update[static_cast<std::size_t>(optimizer)]};
}

}  // namespace gpuscale
