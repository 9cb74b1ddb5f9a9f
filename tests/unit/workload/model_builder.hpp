#pragma once

/// \file
/// Short ways to write models down in tests of the workload module.

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

#include "workload/lower.hpp"

namespace gpuscale::test {

inline ModelSpec model(const Shape& input, std::vector<LayerSpec> layers) {
  ModelSpec spec;
  spec.id = spec.name = "test";
  spec.input = input;
  spec.layers = std::move(layers);
  spec.input_place = {"model.yaml", 1, 8};
  spec.layers_place = {"model.yaml", 2, 1};
  return spec;
}

/// A layer written on this line, column 5.
template <class Layer>
LayerSpec at(int line, Layer layer, std::string name = "") {
  return {std::move(layer), std::move(name), {"model.yaml", line, 5}};
}

/// Work of a sound model; `layers` gets the loss it needs.
inline ModelWork lowered(const Shape& input, std::vector<LayerSpec> layers, const LowerOptions& options = {}) {
  layers.push_back({SoftmaxLossLayer{}});
  std::vector<Problem> problems;
  ModelWork work = lower(model(input, std::move(layers)), options, problems);
  for (const Problem& problem : problems) FAIL_CHECK(to_text(problem));
  return work;
}

/// Problems as a user sees them.
inline std::vector<std::string> problems_of(const ModelSpec& spec, const LowerOptions& options = {}) {
  std::vector<Problem> problems;
  lower(spec, options, problems);
  std::vector<std::string> texts;
  for (const Problem& problem : problems) texts.push_back(to_text(problem));
  return texts;
}

template <class KernelType>
std::vector<KernelType> only(const std::vector<Kernel>& kernels) {
  std::vector<KernelType> found;
  for (const Kernel& kernel : kernels) {
    if (const auto* match = std::get_if<KernelType>(&kernel)) found.push_back(*match);
  }
  return found;
}

inline Bytes moved(const std::vector<Kernel>& kernels) {
  Bytes total;
  for (const StreamKernel& kernel : only<StreamKernel>(kernels)) total += kernel.moved;
  return total;
}

/// Activations kept for backward, without the input batch itself.
inline Bytes saved_activations(const ModelWork& work) {
  Bytes total;
  for (const LayerWork& layer : work.layers) total += layer.saved;
  return total;
}

/// The largest workspace of any layer: layers run one after the other and share it.
inline Bytes largest_workspace(const ModelWork& work) {
  Bytes largest;
  for (const LayerWork& layer : work.layers) largest = std::max(largest, layer.workspace);
  return largest;
}

/// The parts of a Transformer block, from the layer `first` on, as one.
inline LayerWork block_of_parts(const ModelWork& work, std::size_t first = 0, std::size_t parts = 2) {
  LayerWork block = work.layers.at(first);
  for (std::size_t i = first + 1; i < first + parts; ++i) {
    const LayerWork& part = work.layers.at(i);
    block.parameters.insert(block.parameters.end(), part.parameters.begin(), part.parameters.end());
    block.forward.insert(block.forward.end(), part.forward.begin(), part.forward.end());
    block.backward.insert(block.backward.begin(), part.backward.begin(), part.backward.end());
    block.forward_operators += part.forward_operators;
    block.backward_operators += part.backward_operators;
    block.forward_flop += part.forward_flop;
    block.saved += part.saved;
  }
  return block;
}

}  // namespace gpuscale::test
