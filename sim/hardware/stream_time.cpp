#include "hardware/kernel_time.hpp"
#include "hardware/product.hpp"

namespace gpuscale {

Seconds stream_time(const Gpu& gpu, const StreamKernel& kernel) {
  return traffic_time(gpu, kernel.moved, gpu.family.stream.memory) +
         static_cast<double>(kernel.kernels) * gpu.family.launch;
}

}  // namespace gpuscale
