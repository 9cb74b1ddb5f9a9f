#include "parallel/schedule.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>

using namespace gpuscale;

namespace {

PipelineConfig pipeline_of(PipelineSchedule schedule, int stages, std::int64_t microbatches, int chunks = 1) {
  return {.stages = stages, .microbatches = microbatches, .schedule = schedule, .chunks = chunks};
}

using enum PipelineSchedule;

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("every schedule does each pass of each microbatch once") {
    for (const PipelineConfig& pipeline :
         {pipeline_of(gpipe, 4, 8), pipeline_of(one_forward_one_backward, 4, 8),
          pipeline_of(one_forward_one_backward, 8, 2), pipeline_of(interleaved, 4, 8, 3),
          pipeline_of(zero_bubble, 4, 8), pipeline_of(zero_bubble, 8, 3)}) {
      CAPTURE(kPipelineScheduleNames[static_cast<std::size_t>(pipeline.schedule)]);
      for (int stage = 0; stage < pipeline.stages; ++stage) {
        std::map<std::pair<PassKind, int>, std::vector<bool>> seen;
        const std::vector<StagePass> passes = stage_passes(pipeline, stage);
        const std::size_t kinds = pipeline.schedule == zero_bubble ? 3 : 2;
        CHECK(passes.size() == kinds * static_cast<std::size_t>(pipeline.microbatches * pipeline.chunks));
        for (const StagePass& pass : passes) {
          std::vector<bool>& of_kind = seen[{pass.kind, pass.chunk}];
          of_kind.resize(static_cast<std::size_t>(pipeline.microbatches));
          CHECK_FALSE(of_kind[static_cast<std::size_t>(pass.microbatch)]);
          of_kind[static_cast<std::size_t>(pass.microbatch)] = true;
          const bool first_half = pass.kind == PassKind::forward;
          if (!first_half) {
            const std::vector<bool>& before =
                seen[{pass.kind == PassKind::backward ? PassKind::forward : PassKind::backward, pass.chunk}];
            REQUIRE(static_cast<std::size_t>(pass.microbatch) < before.size());
            CHECK(before[static_cast<std::size_t>(pass.microbatch)]);
          }
        }
      }
    }
  }

  TEST_CASE("one forward one backward holds as many microbatches as stages follow") {
    // Narayanan et al. 2021 (arXiv:2104.04473), section 2.2: at most p in flight, where GPipe holds all m.
    for (int stage = 0; stage < 4; ++stage) {
      CHECK(microbatches_in_flight(pipeline_of(one_forward_one_backward, 4, 16), stage) == 4 - stage);
      CHECK(microbatches_in_flight(pipeline_of(gpipe, 4, 16), stage) == 16);
      CHECK(microbatches_in_flight(pipeline_of(zero_bubble, 4, 16), stage) <= 4);
    }
  }

  TEST_CASE("an interleaved first stage holds more than a plain one by the published factor") {
    // arXiv:2205.05198, section 4.2.3: 1 + (p - 1) / (p m) times as much with m parts a stage.
    const double p = 4;
    const double parts = 3;
    CHECK(microbatches_in_flight(pipeline_of(interleaved, 4, 16, 3), 0) ==
          doctest::Approx(p * (1 + (p - 1) / (p * parts))));
  }
}
