#include "parallel/layer_times.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

#include "hardware/kernel_time.hpp"

namespace gpuscale {

namespace {

/// On every kernel of a kind: what this framework makes of it.
double factor_of(const Kernel& kernel, const Framework& framework) {
  if (std::holds_alternative<StreamKernel>(kernel)) return 1.0;
  const auto* attention = std::get_if<AttentionKernel>(&kernel);
  const bool fused = attention != nullptr && attention->fused;
  return 1.0 / (fused ? framework.attention_efficiency : framework.kernel_efficiency);
}

/// `share` of each kernel.
template <class Share>
Seconds total_time(const std::vector<Kernel>& kernels, const Gpu& gpu, const Job& job, Share share) {
  Seconds total;
  for (const Kernel& kernel : kernels) {
    const double part = share(kernel);
    if (part > 0) total += kernel_time(gpu, kernel, job.precision) * (part * factor_of(kernel, job.framework));
  }
  return total * job.kernel_scale();
}

Seconds total_time(const std::vector<Kernel>& kernels, const Gpu& gpu, const Job& job) {
  return total_time(kernels, gpu, job, [](const Kernel&) { return 1.0; });
}

/// Every second product is kept, and attention; the rest is made again.
double made_again(const Kernel& kernel) {
  if (std::holds_alternative<AttentionKernel>(kernel)) return 0.0;
  return std::holds_alternative<StreamKernel>(kernel) ? 1.0 : 0.5;
}

/// Attention whose scores were kept in memory.
std::vector<Kernel> score_kernels(const LayerWork& layer) {
  std::vector<Kernel> kernels;
  if (layer.saved_scores > Bytes()) {
    std::ranges::copy_if(layer.forward, std::back_inserter(kernels),
                         [](const Kernel& kernel) { return std::holds_alternative<AttentionKernel>(kernel); });
  }
  return kernels;
}

/// A layer whose times were measured: the host's share is in them, and the last layer's errors go nowhere.
LayerTime measured_time(const MeasuredTime& measured, const LayerWork& layer, const Job& job) {
  const bool trained = !layer.backward.empty();
  return {.forward = measured.forward * job.kernel_scale(),
          .backward = (trained ? measured.backward + measured.update : Seconds()) * job.kernel_scale(),
          .weight_gradients = (trained ? measured.update : Seconds()) * job.kernel_scale()};
}

bool same_work(const LayerWork& one, const LayerWork& other) {
  return one.measured == other.measured && one.kind == other.kind && one.forward == other.forward &&
         one.backward == other.backward && one.saved_scores == other.saved_scores &&
         one.forward_operators == other.forward_operators && one.backward_operators == other.backward_operators;
}

}  // namespace

std::vector<LayerTime> layer_times(const ModelWork& work, const Gpu& gpu, const Job& job) {
  const HostCost& host = job.framework.host;
  std::vector<LayerTime> times;
  times.reserve(work.layers.size());
  constexpr std::size_t kLookBack = 8;  // layers of repeated blocks
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    const LayerWork& layer = work.layers[i];
    bool known = false;
    for (std::size_t back = 1; back <= std::min(i, kLookBack) && !known; ++back) {
      known = same_work(layer, work.layers[i - back]);
      if (known) times.push_back(LayerTime(times[i - back]));
    }
    if (known) continue;
    if (layer.measured) {
      times.push_back(measured_time(*layer.measured, layer, job));
      continue;
    }
    const double blocks = starts_block(layer) ? 1.0 : 0.0;
    times.push_back({
        .forward = total_time(layer.forward, gpu, job),
        .backward = total_time(layer.backward, gpu, job),
        .weight_gradients = total_time(layer.weight_gradients, gpu, job),
        .scores = total_time(score_kernels(layer), gpu, job),
        .alternate = in_block(layer) ? total_time(layer.forward, gpu, job, made_again) : Seconds(),
        .host_forward = host.forward_operator * layer.forward_operators + host.forward_block * blocks,
        .host_backward = host.backward_operator * layer.backward_operators + host.backward_block * blocks,
    });
  }
  return times;
}

}  // namespace gpuscale
