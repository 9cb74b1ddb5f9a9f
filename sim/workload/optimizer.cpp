#include "workload/optimizer.hpp"

#include <algorithm>

namespace gpuscale {

namespace {

/// State, master weights and arithmetic are never narrower than fp32.
Bytes state_number_size(Precision precision) {
  return std::max(storage_size(precision), storage_size(Precision::fp32));
}

/// fp8 is a way to multiply; what it multiplies is stored in 16 bit.
Bytes weight_size(Precision precision) {
  return precision == Precision::fp8 ? storage_size(Precision::bf16) : storage_size(precision);
}

}  // namespace

int state_numbers(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return 0;
    case Optimizer::sgd_momentum:
      return 1;
    case Optimizer::adam:
    case Optimizer::adamw:
    case Optimizer::lamb:
    case Optimizer::adam_8bit:
      return 2;
  }
  return 0;
}

Bytes state_size(Optimizer optimizer, Precision precision) {
  if (optimizer == Optimizer::adam_8bit) {
    constexpr double kBlock = 2048.0;
    return state_numbers(optimizer) * (Bytes(1) + storage_size(Precision::fp32) / kBlock);
  }
  return state_numbers(optimizer) * state_number_size(precision);
}

bool has_master_weights(Precision precision) { return weight_size(precision) < storage_size(Precision::fp32); }

Bytes update_traffic(Optimizer optimizer, Precision precision, bool master_weights) {
  const Bytes weight = weight_size(precision);
  const Bytes wide = state_number_size(precision);
  Bytes moved = 2.0 * state_size(optimizer, precision);  // read and written
  moved += weight;                                       // gradient read
  moved += master_weights ? 2.0 * wide + weight          // master read and written, copy written
                          : 2.0 * weight;                // weight read and written
  // The step is written and read again between the norms and the update, which reads the weight again.
  if (optimizer == Optimizer::lamb) moved += 2.0 * wide + (master_weights ? wide : weight);
  return moved;
}

StreamKernel optimizer_update(Optimizer optimizer, std::int64_t parameters, std::int64_t tensors, Precision precision,
                              bool master_weights, const UpdateHabit& habit) {
  const std::int64_t launched = habit.fused ? 1 : std::max<std::int64_t>(tensors, 1);
  const double numbers = static_cast<double>(parameters);
  if (habit.written_out) {
    const WrittenOutUpdate& update = *habit.written_out;
    const Bytes wide = state_number_size(precision);
    const Bytes cast = weight_size(precision) + wide;
    return {.moved = numbers * (update.passes * wide + (master_weights ? 2.0 * cast : Bytes())),
            .kernels = launched * (update.kernels + (master_weights ? 2 : 0))};
  }
  const std::int64_t stages = optimizer == Optimizer::lamb ? 2 : 1;
  return {.moved = numbers * update_traffic(optimizer, precision, master_weights), .kernels = stages * launched};
}

}  // namespace gpuscale
