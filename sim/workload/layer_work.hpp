#pragma once

/// \file
/// What a model asks of a GPU in one training step: a flat list of layers in forward order, each
/// with its kernels, parameters and memory. Sizes are those of one rank and one (micro)batch.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/kernel.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity.hpp"
#include "workload/measured_time.hpp"
#include "workload/shape.hpp"

namespace gpuscale {

struct ParameterTensor {
  std::string name = {};   ///< within its layer: "weight", "bias"
  std::int64_t count = 0;  ///< numbers this rank holds
  std::int64_t rows = 0;   ///< of the matrix that it is, for codecs that work on matrices; 0: a vector
  bool sparse_gradient = false;
  bool split = false;               ///< this rank holds one part of what its tensor group divides
  bool expert = false;              ///< belongs to experts that ranks of an expert group divide
  std::int64_t gradient_count = 0;  ///< numbers of the gradient: count, or the rows a batch touches if sparse

  bool operator==(const ParameterTensor&) const = default;
};

/// Along which axis of a job a layer is divided.
enum class SplitAxis { tensor, context, expert };

/// What the ranks of a divided layer do with a tensor; the same words as the collectives that do it.
enum class LayerCollective { all_reduce, reduce_scatter, all_gather, all_to_all };

/// When, within one pass over the layer, its ranks exchange.
enum class ExchangeMoment {
  before,  ///< the kernels need what arrives
  after,   ///< what the kernels made is needed by what follows
  beside,  ///< piece by piece while the kernels run (ring attention)
};

/// One exchange between the ranks that divide a layer, for one batch.
struct LayerExchange {
  SplitAxis axis = SplitAxis::tensor;
  LayerCollective what = LayerCollective::all_reduce;
  ExchangeMoment when = ExchangeMoment::after;
  Bytes size = {};          ///< of the whole tensor; of an all-to-all, what one rank sends and keeps
  std::int64_t rounds = 1;  ///< equal parts that follow each other: the steps of a recurrent layer

  bool operator==(const LayerExchange&) const = default;
};

struct LayerWork {
  std::string name = {};  ///< unique path: "stage3.1.conv2"
  std::string kind = {};  ///< as in a model file; "add" and "concatenate" join residuals and branches
  Place place = {};
  Shape in = {};
  Shape out = {};
  std::vector<ParameterTensor> parameters = {};
  std::vector<Kernel> forward = {};
  std::vector<Kernel> backward = {};          ///< in order: errors of the inputs, then gradients of the weights
  std::vector<Kernel> weight_gradients = {};  ///< those of `backward` that nothing before the layer waits for
  int forward_operators = 0;                  ///< operators the framework's host code dispatches
  int backward_operators = 0;
  Flop forward_flop = {};   ///< of the matrix products
  Bytes saved = {};         ///< kept from forward to backward and counted by no other layer
  Bytes saved_scores = {};  ///< part of `saved`: attention scores, which selective recompute makes again
  /// What a block keeps instead of `saved` where every second product is made again: half of what its products give,
  /// and what its attention gives.
  Bytes kept_by_alternate = {};
  Bytes output = {};      ///< size of the activation
  bool in_place = false;  ///< the output overwrites the input
  Bytes workspace = {};   ///< scratch while the layer runs
  std::vector<LayerExchange> forward_exchanges = {};
  std::vector<LayerExchange> backward_exchanges = {};
  /// Size of the one tensor that goes into this layer and all after it; nothing where others go by, as inside a
  /// residual block. A pipeline stage may begin where it is known.
  std::optional<Bytes> boundary = {};
  std::optional<std::size_t> table_of = {};   ///< the earlier layer whose first parameters it uses as its own (`tied`)
  std::optional<MeasuredTime> measured = {};  ///< of this batch and this rank's part, in place of the kernels' times

  bool operator==(const LayerWork&) const = default;
};

struct ModelWork {
  std::vector<LayerWork> layers = {};
  std::int64_t batch = 1;              ///< samples the sizes above are for
  Bytes input = {};                    ///< one sample as it arrives, four bytes a number; kept by no layer's `saved`
  std::int64_t sequence_length = 0;    ///< 0 for images and plain features
  std::int64_t tokens_per_sample = 0;  ///< for tokens/s; of the target where there are source and target

  bool operator==(const ModelWork&) const = default;
};

/// Numbers of all parameters this rank holds.
double parameter_count(const LayerWork& layer);
double parameter_count(const ModelWork& work);
/// Those of them that belong to divided experts.
double expert_count(const LayerWork& layer);
/// Of so many numbers, `experts` among them, what a rank has where ranks share them out: `share` of each; of experts,
/// which `expert_ranks` of those ranks divide already, that much more, at most all.
double shared_out(double numbers, double experts, double share, double expert_ranks);
/// Whether a Transformer block begins with the layer.
bool starts_block(const LayerWork& layer);
/// Whether the layer is a part of a Transformer block.
bool in_block(const LayerWork& layer);
/// Forward FLOP of the matrix products for one sample.
Flop forward_flop_per_sample(const ModelWork& work);

}  // namespace gpuscale
