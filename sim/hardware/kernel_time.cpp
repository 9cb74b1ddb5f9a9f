#include "hardware/kernel_time.hpp"

namespace gpuscale {

Seconds kernel_time(const Gpu& gpu, const Kernel& kernel, Precision precision) {
  struct Dispatch {
    const Gpu& gpu;
    Precision precision;

    Seconds operator()(const GemmKernel& k) const { return gemm_time(gpu, k, precision); }
    Seconds operator()(const ConvolutionKernel& k) const { return convolution_time(gpu, k, precision); }
    Seconds operator()(const RecurrentKernel& k) const { return recurrent_time(gpu, k, precision); }
    Seconds operator()(const AttentionKernel& k) const { return attention_time(gpu, k, precision); }
    Seconds operator()(const StreamKernel& k) const { return stream_time(gpu, k); }
  };
  return std::visit(Dispatch{gpu, precision}, kernel);
}

}  // namespace gpuscale
