#include "workload/measured_time.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

const MeasuredTime kSmall{.batch = 100, .forward = 10_ms, .backward = 20_ms, .update = 30_ms};
const MeasuredTime kLarge{.batch = 200, .forward = 16_ms, .backward = 26_ms, .update = 40_ms};

double forward_ms(const std::vector<MeasuredTime>& points, std::int64_t batch, int split) {
  return measured_at(points, batch, split).forward.count() * 1e3;
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("a measured time holds at its own batch") {
    const std::vector<MeasuredTime> points = {kSmall, kLarge};
    CHECK(measured_at(points, 100, 1) == kSmall);
    CHECK(measured_at(points, 200, 1) == kLarge);
  }

  TEST_CASE("between two measured batches time follows a line and beyond them the batch or the line") {
    const std::vector<MeasuredTime> points = {kLarge, kSmall};
    CHECK(forward_ms(points, 150, 1) == doctest::Approx(13).epsilon(1e-12));
    CHECK(forward_ms(points, 400, 1) == doctest::Approx(32).epsilon(1e-12));
    // 4 ms whatever the batch, 0.06 ms a sample; alone the small point says nothing of what stays.
    CHECK(forward_ms(points, 50, 1) == doctest::Approx(7).epsilon(1e-12));
    CHECK(forward_ms({kSmall}, 50, 1) == doctest::Approx(5).epsilon(1e-12));
  }

  TEST_CASE("a divided layer takes points of its split or else shrinks with its parts") {
    MeasuredTime divided = kSmall;
    divided.split = 4;
    divided.forward = 4_ms;
    const std::vector<MeasuredTime> points = {kSmall, divided};
    CHECK(forward_ms(points, 100, 4) == doctest::Approx(4).epsilon(1e-12));
    CHECK(forward_ms(points, 100, 2) == doctest::Approx(5).epsilon(1e-12));
    CHECK(forward_ms(points, 100, 8) == doctest::Approx(2).epsilon(1e-12));
    CHECK(forward_ms({divided}, 100, 1) == doctest::Approx(16).epsilon(1e-12));
  }

  TEST_CASE("a linear layer over several ranks takes the measured time of its part") {
    LayerSpec layer = at(3, LinearLayer{.out = 64});
    layer.measured = {kSmall};
    const ModelWork whole = lowered(features(32), {layer}, {.batch = 100});
    const ModelWork part = lowered(features(32), {layer}, {.batch = 100, .model_split = 4});
    REQUIRE(whole.layers.front().measured);
    REQUIRE(part.layers.front().measured);
    CHECK(*whole.layers.front().measured == kSmall);
    CHECK(part.layers.front().measured->forward.count() == doctest::Approx(2.5e-3).epsilon(1e-12));
  }

  TEST_CASE("a convolution in front of split layers keeps the time of the whole") {
    LayerSpec layer = at(3, ConvolutionLayer{.out = 8, .kernel = {3, 3}});
    layer.measured = {kSmall};
    const ModelWork work = lowered(image(3, 8, 8), {layer, at(4, FlattenLayer{}), at(5, LinearLayer{.out = 64})},
                                   {.batch = 100, .model_split = 4});
    REQUIRE(work.layers.front().measured);
    CHECK(*work.layers.front().measured == kSmall);
  }

  TEST_CASE("what becomes several layers has no measured time of its own") {
    LayerSpec layer = at(3, TransformerBlockLayer{.heads = 4, .ffn = 64});
    layer.measured = {kSmall};
    std::vector<Problem> problems;
    lower(model(sequence(16, 32), {layer, at(4, SoftmaxLossLayer{})}), {}, problems);
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().place.line == 3);
    CHECK(problems.front().text.find("'measured' is of one layer") != std::string::npos);
  }
}
