#include "memory/scratch.hpp"

#include <algorithm>
#include <variant>

#include "hardware/convolution_algorithm.hpp"

namespace gpuscale {

namespace {

Bytes largest(const std::vector<Kernel>& kernels, const Gpu& gpu, Precision precision) {
  Bytes most;
  for (const Kernel& kernel : kernels) {
    const auto* convolution = std::get_if<ConvolutionKernel>(&kernel);
    if (convolution != nullptr) most = std::max(most, choose_convolution(gpu, *convolution, precision).workspace);
  }
  return most;
}

}  // namespace

std::vector<Bytes> convolution_scratch(const ModelWork& work, const Gpu& gpu, Precision precision) {
  std::vector<Bytes> scratch;
  scratch.reserve(work.layers.size());
  for (const LayerWork& layer : work.layers)
    scratch.push_back(std::max(largest(layer.forward, gpu, precision), largest(layer.backward, gpu, precision)));
  return scratch;
}

}  // namespace gpuscale
