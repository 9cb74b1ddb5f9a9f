#include "parallel/stages.hpp"

#include <doctest/doctest.h>

#include "jobs.hpp"
#include "workload/transformer_spec.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

struct Cut {
  ModelWork work;
  std::vector<ModelPart> parts;
};

Cut cut(const ModelSpec& model, const PipelineConfig& pipeline) {
  Job job = plain_job(model, 8);
  Cut result{.work = rank_work(job, RankGrid{}, 8), .parts = {}};
  result.parts = cut_into_parts(result.work, {layer_times(result.work, perfect_card(), job)}, pipeline);
  return result;
}

ModelSpec blocks(int count) {
  ModelSpec model;
  model.name = "blocks";
  model.input = tokens(16);
  model.layers.push_back({EmbeddingLayer{.vocabulary = 100, .width = 64}});
  for (int i = 0; i < count; ++i) model.layers.push_back({TransformerBlockLayer{.heads = 4, .ffn = 256}});
  model.layers.push_back({LinearLayer{.out = 100}});
  model.layers.push_back({SoftmaxLossLayer{}});
  return model;
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("parts follow each other and cover the model") {
    for (const int stages : {1, 2, 3, 5}) {
      CAPTURE(stages);
      const Cut of = cut(dense_net(7), {.stages = stages});
      REQUIRE(of.parts.size() == static_cast<std::size_t>(stages));
      std::size_t next = 0;
      for (const ModelPart& part : of.parts) {
        CHECK(part.first == next);
        CHECK(part.last > part.first);
        next = part.last;
      }
      CHECK(next == of.work.layers.size());
    }
  }

  TEST_CASE("equal layers are shared out evenly") {
    const Cut of = cut(dense_net(8), {.stages = 4});
    for (std::size_t i = 0; i + 1 < of.parts.size(); ++i) CHECK(of.parts[i].last - of.parts[i].first == 2);
  }

  TEST_CASE("blocks divide evenly with the embedding on the first part and the head on the last") {
    const Cut of = cut(blocks(8), {.stages = 4});
    CHECK(of.parts[0] == ModelPart{.stage = 0, .first = 0, .last = 5});  // a block has two parts
    CHECK(of.parts[1] == ModelPart{.stage = 1, .first = 5, .last = 9});
    CHECK(of.parts[3].last == of.work.layers.size());
  }

  TEST_CASE("interleaved parts go round the stages") {
    const Cut of = cut(blocks(8), {.stages = 2, .schedule = PipelineSchedule::interleaved, .chunks = 2});
    REQUIRE(of.parts.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(of.parts[i].stage == static_cast<int>(i % 2));
  }

  TEST_CASE("a split says how many blocks each part has") {
    const Cut of = cut(blocks(8), {.stages = 2, .split = {3, 5}});
    CHECK(of.parts[1].first == 1 + 2 * 3);
  }

  TEST_CASE("a residual block stays on one stage") {
    ModelSpec model = dense_net(1);
    model.layers.insert(
        model.layers.begin() + 1,
        {ResidualLayer{.body = {{LinearLayer{.out = 1000}}, {LinearLayer{.out = 1000}}}, .shortcut = {}}});
    const Cut of = cut(model, {});
    CHECK(of.work.layers[1].boundary.has_value() == false);
    CHECK(most_parts(of.work) == 1);
  }
}
