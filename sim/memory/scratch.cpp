#include "memory/scratch.hpp"

#include <algorithm>
#include <variant>

#include "hardware/convolution_algorithm.hpp"

namespace gpuscale {

namespace {

using ScratchOf = Bytes (*)(const ConvolutionKernel&, const Gpu&, Precision);

Bytes chosen(const ConvolutionKernel& kernel, const Gpu& gpu, Precision precision) {
  return choose_convolution(gpu, kernel, precision).workspace;
}

Bytes least(const ConvolutionKernel& kernel, const Gpu& gpu, Precision precision) {
  ConvolutionKernel without = kernel;
  without.habit.workspace = Bytes();
  return chosen(without, gpu, precision);
}

Bytes largest(const std::vector<Kernel>& kernels, const Gpu& gpu, Precision precision, ScratchOf scratch) {
  Bytes most;
  for (const Kernel& kernel : kernels) {
    const auto* convolution = std::get_if<ConvolutionKernel>(&kernel);
    if (convolution != nullptr) most = std::max(most, scratch(*convolution, gpu, precision));
  }
  return most;
}

std::vector<Bytes> by_layer(const ModelWork& work, const Gpu& gpu, Precision precision, ScratchOf scratch) {
  std::vector<Bytes> all;
  all.reserve(work.layers.size());
  for (const LayerWork& layer : work.layers)
    all.push_back(
        std::max(largest(layer.forward, gpu, precision, scratch), largest(layer.backward, gpu, precision, scratch)));
  return all;
}

}  // namespace

std::vector<Bytes> convolution_scratch(const ModelWork& work, const Gpu& gpu, Precision precision) {
  return by_layer(work, gpu, precision, &chosen);
}

std::vector<Bytes> least_convolution_scratch(const ModelWork& work, const Gpu& gpu, Precision precision) {
  return by_layer(work, gpu, precision, &least);
}

}  // namespace gpuscale
