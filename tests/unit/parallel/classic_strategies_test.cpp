// Forward passes alone, gradients a step late, codecs by size and by factors.

#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

#include "jobs.hpp"
#include "parallel/buckets.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

double forward_of(const Outcome& result) {
  double total = 0;
  for (const LayerTime& time : result.step.kinds.front().times) total += time.forward.count();
  return total;
}

/// One convolution to 4 x 8 x 8 numbers and one linear layer.
ModelSpec conv_and_linear() {
  ModelSpec model;
  model.name = "conv";
  model.family = "conv";
  model.input = image(3, 8, 8);
  model.layers = {{ConvolutionLayer{.out = 4, .kernel = {1, 1}, .bias = false}},
                  {FlattenLayer{}},
                  {LinearLayer{.out = 64, .bias = false}},
                  {SoftmaxLossLayer{}}};
  return model;
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("a forward pass alone takes the forward times of its layers and exchanges no gradients") {
    Job job = plain_job(dense_net(4));
    job.forward_only = true;
    const Outcome result = outcome(job, 4);
    CHECK(result.seconds() == doctest::Approx(forward_of(result)).epsilon(1e-9));
    CHECK(result.step.sent_per_gpu == Bytes());
    // 2 FLOP a weight and sample: 4 layers of a million weights.
    CHECK(result.step.model_flop.count() == doctest::Approx(2.0 * 4e6 * 4000).epsilon(1e-12));
  }

  TEST_CASE("gradients that are a step late hide whatever is shorter than the computing") {
    Job job = plain_job(dense_net(4));
    const double alone = outcome(job, 1).seconds();
    job.parallel.exchange.delayed = true;
    const double exchange = 2 * 3.0 / 4 * 16e6;  // bytes of a ring of four
    CHECK(outcome(job, 4, BytesPerSecond(2 * exchange / alone)).seconds() == doctest::Approx(alone).epsilon(1e-6));
    // A longer one sets the pace: the exchange, and the update that waits for it.
    const Outcome slow = outcome(job, 4, BytesPerSecond(exchange / (10 * alone)));
    CHECK(slow.seconds() >= 10 * alone);
    CHECK(slow.seconds() <= 11 * alone);
  }

  TEST_CASE("measured layers take their time and no update beside it") {
    ModelSpec model = dense_net(2);
    for (LayerSpec& layer : model.layers)
      layer.measured = {{.batch = 1000, .forward = 4_ms, .backward = 1_ms, .update = 3_ms}};
    // The loss has no weights; a point is what a layer takes whatever it does.
    CHECK(outcome(plain_job(model), 1).seconds() == doctest::Approx(3 * 8e-3).epsilon(1e-9));
  }

  TEST_CASE("tensors below the codec's size travel apart and whole") {
    ModelWork work;
    for (const std::int64_t count : {1000, 10, 2000, 20}) {
      LayerWork layer;
      layer.parameters.push_back({.name = "weight", .count = count, .gradient_count = count});
      work.layers.push_back(layer);
    }
    const std::vector<std::size_t> all = {0, 1, 2, 3};
    const std::vector<Bucket> buckets =
        cut_buckets(work, all, {.whole_model = true, .number = Bytes(4), .codec_from = Bytes(400)});
    REQUIRE(buckets.size() == 2);
    CHECK(buckets[0].values == 30);
    CHECK_FALSE(buckets[0].coded);
    CHECK(buckets[0].last_layer == 1);
    CHECK(buckets[1].values == 3000);
    CHECK(buckets[1].coded);
  }

  TEST_CASE("a piece knows its matrices and a vector is none") {
    ModelWork work;
    LayerWork layer;
    layer.parameters.push_back({.name = "weight", .count = 600, .rows = 20, .gradient_count = 600});
    layer.parameters.push_back({.name = "bias", .count = 20, .gradient_count = 20});
    work.layers.push_back(layer);
    const std::vector<std::size_t> all = {0};
    const Bucket piece = cut_buckets(work, all, {.whole_model = true, .number = Bytes(4)}).front();
    CHECK(piece.values == 620);
    CHECK(piece.matrices.count == 1);
    CHECK(piece.matrices.rows == 20);
    CHECK(piece.matrices.columns == 30);
  }

  TEST_CASE("factors of rank r send r numbers for each row and column") {
    // arXiv:1905.13727: an n x m matrix becomes factors of n x r and m x r. Four layers of 1000 x 1000.
    Job job = plain_job(dense_net(4));
    job.parallel.exchange.codec = CodecKind::low_rank;
    job.parallel.exchange.rank = 2;
    const PlannedStep step = outcome(job, 4).step;
    const double ring = 2.0 * 3 / 4;
    CHECK(step.sent_per_gpu.count() == doctest::Approx(ring * 4 * 4 * 2 * 2000).epsilon(1e-12));
    CHECK(step.sent_uncompressed_per_gpu.count() == doctest::Approx(ring * 4 * 4e6).epsilon(1e-12));
  }

  TEST_CASE("factors pay on a slow network and cost more than they save on a fast one") {
    Job plain = plain_job(dense_net(4));
    Job factors = plain;
    factors.parallel.exchange.codec = CodecKind::low_rank;
    CHECK(outcome(factors, 4, BytesPerSecond(100e6)).seconds() <
          0.3 * outcome(plain, 4, BytesPerSecond(100e6)).seconds());
    CHECK(outcome(factors, 4, BytesPerSecond(100e9)).seconds() > outcome(plain, 4, BytesPerSecond(100e9)).seconds());
  }

  TEST_CASE("more columns in the factors take longer") {
    Job job = plain_job(dense_net(4));
    job.parallel.exchange.codec = CodecKind::low_rank;
    double before = 0;
    for (const int rank : {1, 2, 4, 8}) {
      job.parallel.exchange.rank = rank;
      const double now = outcome(job, 4).seconds();
      CHECK(now > before);
      before = now;
    }
  }

  TEST_CASE("linear layers that stay whole send activations before them and gradients of convolutions only") {
    Job job = plain_job(conv_and_linear(), 16);
    job.parallel.model = {.degree = 4, .sub_batch = 16, .whole = true};
    const PlannedStep step = outcome(job, 4).step;
    const auto sent = [&](std::string_view purpose) {
      double bytes = 0;
      for (const SentBytes& entry : step.sent) bytes += entry.purpose == purpose ? entry.encoded.count() : 0.0;
      return bytes;
    };
    // 64 samples of 4 x 8 x 8 numbers, of which a rank sends its quarter to three others; 12 weights by a ring of four.
    CHECK(sent("activation") == doctest::Approx(64 * 256 * 4 * 3.0 / 4).epsilon(1e-12));
    CHECK(sent("gradient") == doctest::Approx(12 * 4 * 2 * 3.0 / 4).epsilon(1e-12));
    CHECK(step.passes == 4);
  }

  TEST_CASE("activations of sub-batches leave one after the other and travel while the one before computes") {
    ModelSpec model = conv_and_linear();
    const auto takes = [](LayerSpec& layer, Seconds forward) { layer.measured = {{.batch = 16, .forward = forward}}; };
    takes(model.layers[0], 1_ms);
    takes(model.layers[2], 2_ms);
    takes(model.layers[3], Seconds());
    Job job = plain_job(model, 16);
    job.forward_only = true;
    job.parallel.model = {.degree = 4, .sub_batch = 16, .whole = true};
    // Of 16 samples of 4 x 8 x 8 numbers each rank gets three quarters.
    const Bytes received(16 * 256 * 4 * 0.75);
    const auto step = [&](Seconds sent) { return outcome(job, 4, received / sent).seconds(); };
    CHECK(step(5_ms) == doctest::Approx(1e-3 + 4 * 5e-3 + 2e-3).epsilon(1e-3));
    CHECK(step(0.5_ms) == doctest::Approx(1e-3 + 0.5e-3 + 4 * 2e-3).epsilon(1e-3));
  }

  TEST_CASE("sub-batches in turn that are updated each take as long as so many small steps") {
    Job small = plain_job(dense_net(6, 2000));
    small.batch = {.samples = 250, .per_gpu = false};
    small.parallel.model.degree = 4;
    Job job = plain_job(dense_net(6, 2000), 250);
    job.parallel.model = {.degree = 4, .sub_batch = 250};
    const double overlapped = outcome(job, 4, 5_GBps).seconds();
    job.framework.sub_batches_in_turn = true;
    const double updated_once = outcome(job, 4, 5_GBps).seconds();
    job.parallel.model.update_each = true;
    const double updated_each = outcome(job, 4, 5_GBps).seconds();
    CHECK(updated_each == doctest::Approx(4 * outcome(small, 4, 5_GBps).seconds()).epsilon(1e-9));
    CHECK(updated_once < updated_each);
    CHECK(overlapped < 0.9 * updated_once);
  }
}
