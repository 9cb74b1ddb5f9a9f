#include "hardware/kernel.hpp"

#include <algorithm>

namespace gpuscale {

namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

double score_pairs(const AttentionKernel& kernel) { return real(kernel.query_length) * real(kernel.key_length); }

double elements(const GemmKernel& kernel) {
  return real(kernel.batch) *
         (real(kernel.m) * real(kernel.k) + real(kernel.k) * real(kernel.n) + real(kernel.m) * real(kernel.n));
}

double elements(const ConvolutionKernel& kernel) {
  const double input = real(kernel.batch) * real(kernel.in_channels) * real(kernel.height) * real(kernel.width);
  const double output =
      real(kernel.batch) * real(kernel.out_channels) * real(kernel.out_height) * real(kernel.out_width);
  const double weights = real(kernel.out_channels) * real(kernel.in_channels) / real(kernel.groups) *
                         real(kernel.kernel_height) * real(kernel.kernel_width);
  return input + output + weights;
}

double elements(const RecurrentKernel& kernel) {
  const double weights = real(gates(kernel.cell)) * real(kernel.hidden) * (real(kernel.input) + real(kernel.hidden));
  const double states = real(kernel.batch) * real(kernel.steps) * (real(kernel.input) + real(kernel.hidden));
  return weights + states;
}

/// Backward reads queries, keys, values, outputs and output errors and writes three gradients.
double elements(const AttentionKernel& kernel) {
  const double query = real(kernel.query_length) * real(kernel.heads);
  const double key = real(kernel.key_length) * real(kernel.kv_heads);
  const double width = real(kernel.batch) * real(kernel.head_size);
  return kernel.pass == Pass::forward ? width * 2.0 * (query + key) : width * 4.0 * (query + key);
}

}  // namespace

double visible_share(const AttentionKernel& kernel) {
  if (!kernel.causal) return 1.0;
  const double masked = std::min(real(kernel.query_length), real(kernel.key_length));
  return 1.0 - masked * masked / 2.0 / score_pairs(kernel);
}

Flop flop(const Kernel& kernel) {
  struct Count {
    double operator()(const GemmKernel& k) const { return 2.0 * real(k.batch) * real(k.m) * real(k.n) * real(k.k); }
    double operator()(const ConvolutionKernel& k) const {
      return 2.0 * real(k.batch) * real(k.out_channels) * real(k.out_height) * real(k.out_width) *
             (real(k.in_channels) / real(k.groups)) * real(k.kernel_height) * real(k.kernel_width);
    }
    double operator()(const RecurrentKernel& k) const {
      return 2.0 * real(gates(k.cell)) * real(k.hidden) * (real(k.input) + real(k.hidden)) * real(k.batch) *
             real(k.steps);
    }
    double operator()(const AttentionKernel& k) const {
      const double products = k.pass == Pass::forward ? 2.0 : 4.0;
      return products * 2.0 * real(k.batch) * real(k.heads) * real(k.head_size) * score_pairs(k);
    }
    double operator()(const StreamKernel&) const { return 0.0; }
  };
  return Flop(std::visit(Count(), kernel));
}

Bytes least_traffic(const Kernel& kernel, Precision precision) {
  if (const auto* stream = std::get_if<StreamKernel>(&kernel)) return stream->moved;
  const double count = std::visit(
      [](const auto& k) {
        if constexpr (requires { elements(k); })
          return elements(k);
        else
          return 0.0;
      },
      kernel);
  return count * storage_size(precision);
}

}  // namespace gpuscale
