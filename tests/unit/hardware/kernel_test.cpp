#include "hardware/kernel.hpp"

#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("hardware") {
  TEST_CASE("a matrix product counts two operations per multiply-add") {
    CHECK(flop(GemmKernel{.m = 2, .n = 3, .k = 5}) == Flop(60));
    CHECK(flop(GemmKernel{.m = 2, .n = 3, .k = 5, .batch = 7}) == Flop(420));
  }

  TEST_CASE("a matrix product touches three matrices") {
    const GemmKernel kernel{.m = 2, .n = 3, .k = 5, .batch = 7};
    CHECK(least_traffic(kernel, Precision::fp32) == Bytes(7 * 4 * (10 + 15 + 6)));
    CHECK(least_traffic(kernel, Precision::fp16) == Bytes(7 * 2 * (10 + 15 + 6)));
  }

  TEST_CASE("the first layer of AlexNet has the operations of its paper") {
    // 11x11 kernel over 3 channels to 64 channels of 55x55: 70 276 800 multiply-adds an image.
    const ConvolutionKernel conv1{.batch = 1,
                                  .in_channels = 3,
                                  .height = 224,
                                  .width = 224,
                                  .out_channels = 64,
                                  .out_height = 55,
                                  .out_width = 55,
                                  .kernel_height = 11,
                                  .kernel_width = 11,
                                  .stride_height = 4,
                                  .stride_width = 4};
    CHECK(flop(conv1) == Flop(2.0 * 70'276'800));
  }

  TEST_CASE("all passes of a convolution have the same operations and traffic") {
    ConvolutionKernel kernel{.batch = 2,
                             .in_channels = 8,
                             .height = 10,
                             .width = 10,
                             .out_channels = 4,
                             .out_height = 5,
                             .out_width = 5,
                             .kernel_height = 3,
                             .kernel_width = 3,
                             .stride_height = 2,
                             .stride_width = 2};
    for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights}) {
      kernel.pass = pass;
      CHECK(flop(kernel) == Flop(2.0 * 2 * 4 * 25 * 8 * 9));
      CHECK(least_traffic(kernel, Precision::fp32) == Bytes(4.0 * (2 * 8 * 100 + 2 * 4 * 25 + 4 * 8 * 9)));
    }
  }

  TEST_CASE("groups divide the operations of a convolution") {
    ConvolutionKernel kernel{.batch = 1,
                             .in_channels = 32,
                             .height = 8,
                             .width = 8,
                             .out_channels = 32,
                             .out_height = 8,
                             .out_width = 8,
                             .kernel_height = 3,
                             .kernel_width = 3};
    const Flop dense = flop(kernel);
    kernel.groups = 32;
    CHECK(flop(kernel) * 32 == dense);
  }

  TEST_CASE("a recurrent layer counts its gates and both products") {
    const RecurrentKernel lstm{.cell = RecurrentCell::lstm, .batch = 3, .input = 5, .hidden = 7, .steps = 11};
    CHECK(flop(lstm) == Flop(2.0 * 4 * 7 * (5 + 7) * 3 * 11));
    RecurrentKernel gru = lstm;
    gru.cell = RecurrentCell::gru;
    CHECK(flop(gru) / flop(lstm) == doctest::Approx(0.75).epsilon(1e-12));
  }

  TEST_CASE("DeepBench counts 8 h h b t for an LSTM that skips its input product") {
    // Row of results/train: hidden 512 batch 16 steps 25 took 1259 us at 0.666291 TFLOP/s.
    const RecurrentKernel lstm{.batch = 16, .input = 0, .hidden = 512, .steps = 25};
    CHECK(flop(lstm).count() == doctest::Approx(1259e-6 * 0.666291e12).epsilon(1e-5));
  }

  TEST_CASE("attention counts two products forward and four backward") {
    AttentionKernel kernel{.batch = 2, .query_length = 16, .key_length = 32, .heads = 4, .kv_heads = 4, .head_size = 8};
    CHECK(flop(kernel) == Flop(2.0 * 2 * 2 * 4 * 16 * 32 * 8));
    const Flop forward = flop(kernel);
    kernel.pass = Pass::backward_data;
    CHECK(flop(kernel) == forward * 2);
  }

  TEST_CASE("a causal mask leaves half of a square score matrix and changes no count") {
    AttentionKernel kernel{.batch = 1, .query_length = 64, .key_length = 64, .heads = 2, .kv_heads = 1, .head_size = 8};
    const Flop full = flop(kernel);
    kernel.causal = true;
    CHECK(flop(kernel) == full);
    CHECK(visible_share(kernel) == 0.5);
  }

  TEST_CASE("shared keys and values save traffic and no operations") {
    AttentionKernel kernel{
        .batch = 1, .query_length = 64, .key_length = 64, .heads = 8, .kv_heads = 8, .head_size = 16};
    const Flop operations = flop(kernel);
    CHECK(least_traffic(kernel, Precision::fp16) == Bytes(2.0 * 16 * 64 * 2 * (8 + 8)));
    kernel.kv_heads = 1;
    CHECK(flop(kernel) == operations);
    CHECK(least_traffic(kernel, Precision::fp16) == Bytes(2.0 * 16 * 64 * 2 * (8 + 1)));
  }

  TEST_CASE("a stream has traffic and no operations") {
    const StreamKernel stream{.moved = Bytes(1000), .kernels = 3};
    CHECK(flop(stream) == Flop(0));
    CHECK(least_traffic(stream, Precision::fp16) == Bytes(1000));
  }
}
