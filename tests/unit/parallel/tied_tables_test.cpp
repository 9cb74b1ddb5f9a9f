#include "parallel/tied_tables.hpp"

#include <doctest/doctest.h>

#include "jobs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr std::int64_t kTable = 1024 * 64;

ModelSpec words(bool tied) {
  ModelSpec model;
  model.name = "words";
  model.family = "transformer";
  model.input = tokens(16);
  model.layers.push_back({EmbeddingLayer{.vocabulary = 1024, .width = 64}});
  for (int i = 0; i < 4; ++i) model.layers.push_back({TransformerBlockLayer{.heads = 4, .ffn = 256}});
  model.layers.push_back({LinearLayer{.out = 1024, .bias = false, .tied = tied}});
  model.layers.push_back({SoftmaxLossLayer{}});
  return model;
}

Job pipelined(bool tied, int stages) {
  Job job = plain_job(words(tied), 8);
  job.parallel.pipeline = {.stages = stages, .microbatches = 4};
  return job;
}

double parameters_of(const PlannedStep& step, int stage) {
  double count = 0;
  for (const ModelPart& part : step.parts) {
    for (std::size_t layer = part.first; part.stage == stage && layer < part.last; ++layer)
      count += parameter_count(step.work.layers[layer]);
  }
  return count;
}

Bytes tied_bytes(const PlannedStep& step, int stage) {
  Bytes bytes;
  for (const SentBytes& sent : step.sent) {
    if (sent.purpose == "tied" && sent.stage == stage) bytes += sent.plain;
  }
  return bytes;
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("the last stage holds a copy of a tied table that the model counts once") {
    const Outcome tied = outcome(pipelined(true, 2), 2);
    const Outcome own = outcome(pipelined(false, 2), 2);
    CHECK(parameters_of(tied.step, 0) == parameters_of(own.step, 0));
    CHECK(parameters_of(tied.step, 1) == parameters_of(own.step, 1));
    CHECK(tied.step.parameters == own.step.parameters - kTable);
    CHECK(parameter_count(outcome(pipelined(true, 1), 1).step.work) == tied.step.parameters);
  }

  TEST_CASE("the stages that hold a tied table sum its gradient once a step") {
    const double rate = 1e9;
    const double sum = 4.0 * kTable / rate;  // a ring of two sends each number once
    const double tied = outcome(pipelined(true, 2), 2, BytesPerSecond(rate)).seconds();
    const double own = outcome(pipelined(false, 2), 2, BytesPerSecond(rate)).seconds();
    CHECK(tied - own == doctest::Approx(sum).epsilon(1e-6));
  }

  TEST_CASE("stages between the first and the last send nothing of a tied table") {
    const PlannedStep step = outcome(pipelined(true, 4), 8).step;
    CHECK(tied_bytes(step, 0) == Bytes(4.0 * kTable));
    CHECK(tied_bytes(step, 1) == Bytes());
    CHECK(tied_bytes(step, 2) == Bytes());
    CHECK(tied_bytes(step, 3) == Bytes(4.0 * kTable));
  }

  TEST_CASE("a tensor group divides the sum of a tied table") {
    Job job = pipelined(true, 2);
    job.parallel.tensor.degree = 2;
    CHECK(tied_bytes(outcome(job, 4).step, 0) == Bytes(4.0 * kTable / 2));
  }

  TEST_CASE("a table is copied once to each stage that uses it") {
    ModelWork work;
    work.layers.resize(5);
    work.layers[0].parameters = {{.name = "weight", .count = 10, .gradient_count = 10}};
    for (const std::size_t user : {1, 2, 3, 4}) work.layers[user].table_of = 0;
    const std::vector<ModelPart> parts = {
        {.stage = 0, .first = 0, .last = 2}, {.stage = 1, .first = 2, .last = 4}, {.stage = 2, .first = 4, .last = 5}};
    CHECK(copy_tied_tables(work, parts) == std::vector<TiedTable>{{.layer = 0, .stages = {0, 1, 2}}});
    const std::vector<double> expected = {10, 0, 10, 0, 10};
    for (std::size_t layer = 0; layer < 5; ++layer) CHECK(parameter_count(work.layers[layer]) == expected[layer]);
  }

  TEST_CASE("nothing is copied where one stage holds all that use a table") {
    const PlannedStep step = outcome(pipelined(true, 1), 4).step;
    CHECK(tied_bytes(step, 0) == Bytes());
    CHECK(parameter_count(step.work) == step.parameters);
  }
}
