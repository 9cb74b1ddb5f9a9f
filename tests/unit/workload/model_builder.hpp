#pragma once

/// \file
/// Short ways to write models down in tests of the workload module.

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

}  // namespace gpuscale::test
