#include "parallel/layer_times.hpp"

#include <variant>

#include "hardware/kernel_time.hpp"

namespace gpuscale {

namespace {

Seconds total_time(const std::vector<Kernel>& kernels, const Gpu& gpu, const Job& job) {
  Seconds total;
  for (const Kernel& kernel : kernels) {
    const Seconds time = kernel_time(gpu, kernel, job.precision);
    const bool stream = std::holds_alternative<StreamKernel>(kernel);
    total += stream ? time : time / job.framework.kernel_efficiency;
  }
  return total * job.compute_scale;
}

}  // namespace

std::vector<LayerTime> layer_times(const ModelWork& work, const Gpu& gpu, const Job& job) {
  const HostCost& host = job.framework.host;
  std::vector<LayerTime> times;
  times.reserve(work.layers.size());
  for (const LayerWork& layer : work.layers) {
    times.push_back({
        .forward = total_time(layer.forward, gpu, job),
        .backward = total_time(layer.backward, gpu, job),
        .host_forward = host.forward_operator * layer.forward_operators,
        .host_backward = host.backward_operator * layer.backward_operators,
    });
  }
  return times;
}

}  // namespace gpuscale
