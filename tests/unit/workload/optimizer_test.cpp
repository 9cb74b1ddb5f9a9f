#include "workload/optimizer.hpp"

#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("workload") {
  TEST_CASE("optimizers keep and move the numbers of their update rule") {
    struct Row {
      Optimizer optimizer;
      int state;
      double numbers;  // read or written per parameter, fp32
    };
    const Row rows[] = {{Optimizer::sgd, 0, 3},           // w, g; w
                        {Optimizer::sgd_momentum, 1, 5},  // and the momentum
                        {Optimizer::adam, 2, 7},          // w, g, m, v; w, m, v
                        {Optimizer::adamw, 2, 7},
                        {Optimizer::lamb, 2, 10}};  // the step written and read, w again
    for (const Row& row : rows) {
      CAPTURE(name(row.optimizer));
      CHECK(state_numbers(row.optimizer) == row.state);
      CHECK(state_size(row.optimizer, Precision::fp16) == Bytes(4.0 * row.state));
      CHECK(update_traffic(row.optimizer, Precision::fp32, false) == Bytes(4.0 * row.numbers));
    }
  }

  TEST_CASE("mixed precision keeps an fp32 copy and writes both") {
    CHECK(has_master_weights(Precision::fp16));
    CHECK(has_master_weights(Precision::fp8));
    CHECK_FALSE(has_master_weights(Precision::tf32));
    // gradient 2, master 4 + 4, weight 2, two states 4 + 4 each: 28 bytes.
    CHECK(update_traffic(Optimizer::adam, Precision::bf16, true) == Bytes(28));
    CHECK(update_traffic(Optimizer::sgd, Precision::bf16, false) == Bytes(6));
  }

  TEST_CASE("eight bit moments take two bytes a parameter and a maximum a block") {
    CHECK(state_numbers(Optimizer::adam_8bit) == 2);
    const Bytes state = state_size(Optimizer::adam_8bit, Precision::bf16);
    CHECK(state.count() == doctest::Approx(2.0 + 2.0 * 4.0 / 2048.0).epsilon(1e-12));
    // Against 28 bytes of Adam in mixed precision: gradient 2, master 4 + 4, weight 2, states twice.
    CHECK(update_traffic(Optimizer::adam_8bit, Precision::bf16, true).count() ==
          doctest::Approx(12.0 + 2.0 * state.count()).epsilon(1e-12));
  }

  TEST_CASE("an update launches per tensor or once") {
    const StreamKernel loop = optimizer_update(Optimizer::sgd_momentum, 1000, 7, Precision::fp32, false, {});
    CHECK(loop == StreamKernel{.moved = Bytes(20000), .kernels = 7});
    CHECK(optimizer_update(Optimizer::sgd_momentum, 1000, 7, Precision::fp32, false, {.fused = true}).kernels == 1);
    CHECK(optimizer_update(Optimizer::lamb, 1000, 7, Precision::fp32, false, {}).kernels == 14);
  }

  TEST_CASE("an update that is written out moves its passes in fp32 and casts gradient and weight in 16 bits") {
    // adamw of BERT's optimization.py: 42 passes in 19 kernels.
    const UpdateHabit habit{.written_out = WrittenOutUpdate{.passes = 42, .kernels = 19}};
    const StreamKernel wide = optimizer_update(Optimizer::adamw, 1000, 7, Precision::fp32, false, habit);
    CHECK(wide == StreamKernel{.moved = Bytes(42 * 4 * 1000), .kernels = 7 * 19});
    const StreamKernel narrow = optimizer_update(Optimizer::adamw, 1000, 7, Precision::fp16, true, habit);
    CHECK(narrow == StreamKernel{.moved = Bytes((42 * 4 + 2 * 6) * 1000), .kernels = 7 * 21});
  }
}
