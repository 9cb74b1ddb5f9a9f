#include "study/kernel_shape.hpp"

#include <doctest/doctest.h>
#include <string>

#include "units/diagnostic.hpp"

using namespace gpuscale;

namespace {

std::string problem_of(std::string_view kind, std::string_view shape) {
  try {
    static_cast<void>(kernels_of(kind, shape));
  } catch (const ScenarioError& error) {
    return error.problems().front().text;
  }
  return "";
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("a convolution's output follows from padding and stride") {
    const std::vector<Kernel> kernels =
        kernels_of("conv backward_weights", "N=16 C=3 H=224 W=224 K=64 R=7 S=7 pad=3x3 stride=2x2");
    REQUIRE(kernels.size() == 1);
    const auto& kernel = std::get<ConvolutionKernel>(kernels.front());
    CHECK(kernel.pass == Pass::backward_weights);
    CHECK(kernel.out_height == 112);
    CHECK(kernel.out_width == 112);
  }

  TEST_CASE("a whole backward pass of a recurrent layer is two kernels") {
    CHECK(kernels_of("lstm backward", "hidden=512 batch=16 timesteps=25").size() == 2);
    CHECK(kernels_of("attention forward", "batch=1 seq=512 heads=16 kv_heads=8 head_dim=128").size() == 1);
    CHECK(std::get<GemmKernel>(kernels_of("gemm", "M=8 N=16 K=32 opA=N").front()) ==
          GemmKernel{.m = 8, .n = 16, .k = 32, .batch = 1});
    CHECK(std::get<GemmKernel>(kernels_of("gemm", "M=8 N=16 K=32 opA=T opB=N").front()).layout == kTransposedA);
    CHECK(std::get<GemmKernel>(kernels_of("gemm", "M=8 N=16 K=32 opA=N opB=T").front()).layout == kTransposedB);
  }

  TEST_CASE("what a shape lacks is told") {
    CHECK(problem_of("gemm", "M=8 N=16") == "the shape 'M=8 N=16' has no K");
    CHECK(problem_of("gemm", "M=0 N=1 K=1").starts_with("M of the shape is '0'"));
    CHECK(problem_of("gemm", "M=8 N=16 K=1 opA=X") == "opA of the shape is 'X', and should be N or T");
    CHECK(problem_of("pool forward", "M=1") == "'pool forward' is no kind of kernel");
    CHECK(problem_of("conv forward", "N=1 C=1 H=4 W=4 K=1 R=7 S=7 pad=0x0 stride=1x1") ==
          "the kernel of the convolution is larger than its padded input");
  }
}
