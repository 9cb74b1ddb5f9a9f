#include "memory/scratch.hpp"

#include <algorithm>
#include <variant>

#include "hardware/convolution_algorithm.hpp"

namespace gpuscale {

namespace {

Bytes largest(const std::vector<Kernel>& kernels, const Gpu& gpu, Precision precision, Bytes limit) {
  Bytes most;
  for (const Kernel& kernel : kernels) {
    if (!std::holds_alternative<ConvolutionKernel>(kernel)) continue;
    ConvolutionKernel held = std::get<ConvolutionKernel>(kernel);
    held.habit.workspace = std::min(held.habit.workspace, limit);
    most = std::max(most, choose_convolution(gpu, held, precision).workspace);
  }
  return most;
}

}  // namespace

std::vector<Bytes> convolution_scratch(const ModelWork& work, const Gpu& gpu, Precision precision, Bytes limit) {
  std::vector<Bytes> scratch;
  scratch.reserve(work.layers.size());
  for (const LayerWork& layer : work.layers)
    scratch.push_back(
        std::max(largest(layer.forward, gpu, precision, limit), largest(layer.backward, gpu, precision, limit)));
  return scratch;
}

}  // namespace gpuscale
