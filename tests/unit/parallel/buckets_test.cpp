#include "parallel/buckets.hpp"

#include <doctest/doctest.h>
#include <numeric>

using namespace gpuscale;

namespace {

/// Layers whose weights have these counts, in forward order.
ModelWork weights(const std::vector<std::int64_t>& counts) {
  ModelWork work;
  for (const std::int64_t count : counts) {
    LayerWork layer;
    layer.parameters.push_back({.name = "weight", .count = count, .gradient_count = count});
    work.layers.push_back(layer);
  }
  return work;
}

/// Buckets of all layers.
std::vector<Bucket> cut(const ModelWork& work, const BucketRule& rule) {
  std::vector<std::size_t> all(work.layers.size());
  std::iota(all.begin(), all.end(), 0);
  return cut_buckets(work, all, rule);
}

std::vector<double> values_of(const std::vector<Bucket>& buckets) {
  std::vector<double> values;
  for (const Bucket& bucket : buckets) values.push_back(bucket.values);
  return values;
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("buckets fill from the last layer and close once they are full") {
    const std::vector<Bucket> buckets = cut(weights({100, 200, 300, 400}), {.size = Bytes(2000), .number = Bytes(4)});
    CHECK(values_of(buckets) == std::vector<double>{700, 300});
    CHECK(buckets[0].last_layer == 2);
    CHECK(buckets[1].last_layer == 0);
  }

  TEST_CASE("the first bucket may be smaller so that the exchange starts early") {
    const BucketRule rule{.size = Bytes(4000), .first_size = Bytes(100), .number = Bytes(4)};
    CHECK(values_of(cut(weights({100, 200, 300, 400}), rule)) == std::vector<double>{400, 600});
  }

  TEST_CASE("size zero sends every tensor alone") {
    CHECK(values_of(cut(weights({100, 200}), {.number = Bytes(4)})) == std::vector<double>{200, 100});
  }

  TEST_CASE("the whole model is one bucket of its earliest layer") {
    const std::vector<Bucket> buckets = cut(weights({100, 200, 300}), {.whole_model = true, .number = Bytes(4)});
    CHECK(values_of(buckets) == std::vector<double>{600});
    CHECK(buckets[0].last_layer == 0);
  }

  TEST_CASE("sparse gradients and split layers travel apart from the rest") {
    ModelWork work = weights({100, 200, 300});
    work.layers[1].parameters[0].sparse_gradient = true;
    work.layers[1].parameters[0].gradient_count = 20;
    work.layers[0].parameters[0].split = true;
    const std::vector<Bucket> buckets = cut(work, {.whole_model = true, .number = Bytes(4)});
    CHECK(values_of(buckets) == std::vector<double>{300, 20, 100});
    CHECK(buckets[1].sparse);
    CHECK(buckets[2].split);
  }

  TEST_CASE("buckets lose nothing") {
    for (const double size : {0.0, 1.0, 500.0, 1e9}) {
      CAPTURE(size);
      double sum = 0;
      for (const Bucket& bucket : cut(weights({7, 11, 13, 17, 19}), {.size = Bytes(size), .number = Bytes(4)})) {
        sum += bucket.values;
      }
      CHECK(sum == 67);
    }
  }

  TEST_CASE("pieces go to the GPU that has least so far") {
    // In the order of the layers, 1 2 3 10 2 1: to 0 1 0 1 0 0. The largest first, 10 3 2 2 1 1: to 0 1 1 1 1 1.
    const std::vector<std::int64_t> counts = {1, 2, 3, 10, 2, 1};
    std::vector<Bucket> pieces = cut(weights(counts), {.number = Bytes(4)});
    const auto owners = [&](TensorOwner rule) {
      assign_owners(pieces, rule, 2);
      std::vector<std::size_t> by_layer(pieces.size());
      for (const Bucket& piece : pieces) by_layer[piece.last_layer] = piece.owner;
      return by_layer;
    };
    CHECK(owners(TensorOwner::first_gpu) == std::vector<std::size_t>{0, 0, 0, 0, 0, 0});
    CHECK(owners(TensorOwner::least_bytes) == std::vector<std::size_t>{0, 1, 0, 1, 0, 0});
    CHECK(owners(TensorOwner::largest_first) == std::vector<std::size_t>{1, 1, 1, 0, 1, 1});
  }
}
