#pragma once

/// \file
/// What a model asks of a GPU in one training step: a flat list of layers in forward order, each
/// with its kernels, parameters and memory. Sizes are those of one rank and one (micro)batch.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/kernel.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity.hpp"
#include "workload/shape.hpp"

namespace gpuscale {

struct ParameterTensor {
  std::string name = {};   ///< within its layer: "weight", "bias"
  std::int64_t count = 0;  ///< numbers this rank holds
  bool sparse_gradient = false;
  bool split = false;               ///< this rank holds one of `model_split` parts
  std::int64_t gradient_count = 0;  ///< numbers of the gradient: count, or the rows a batch touches if sparse

  bool operator==(const ParameterTensor&) const = default;
};

/// What ranks that share a split layer must exchange for one batch; whole tensors, not this rank's part.
struct SplitExchange {
  Bytes forward_gather = {};   ///< outputs, of which each rank computed a part and all need everything
  Bytes backward_reduce = {};  ///< errors of the inputs, partial sums on each rank; zero if nobody needs them
  std::int64_t rounds = 1;     ///< exchanges that must follow each other: the steps of a recurrent layer

  bool operator==(const SplitExchange&) const = default;
};

struct LayerWork {
  std::string name = {};  ///< unique path: "stage3.1.conv2"
  std::string kind = {};  ///< as in a model file; "add" and "concatenate" join residuals and branches
  Place place = {};
  Shape in = {};
  Shape out = {};
  std::vector<ParameterTensor> parameters = {};
  std::vector<Kernel> forward = {};
  std::vector<Kernel> backward = {};  ///< in order: errors of the inputs, then gradients of the weights
  int forward_operators = 0;          ///< operators the framework's host code dispatches
  int backward_operators = 0;
  Flop forward_flop = {};  ///< of the matrix products
  Bytes saved = {};        ///< kept from forward to backward and counted by no other layer
  Bytes output = {};       ///< size of the activation
  bool in_place = false;   ///< the output overwrites the input
  Bytes workspace = {};    ///< scratch while the layer runs
  std::optional<SplitExchange> split = {};

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
/// Forward FLOP of the matrix products for one sample.
Flop forward_flop_per_sample(const ModelWork& work);
/// Activations kept for backward, without the input batch itself.
Bytes saved_activations(const ModelWork& work);
/// The largest workspace of any layer: layers run one after the other and share it.
Bytes largest_workspace(const ModelWork& work);

}  // namespace gpuscale
